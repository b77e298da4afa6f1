"""The models in JAX. Each step is one function in `jit`, which gets its parameters and state back by donation."""

import os

os.environ["JAX_PLATFORMS"] = "cpu"

import functools

import jax
import jax.numpy as jnp

import inputs


def device(arrays):
    return jax.tree.map(jnp.array, arrays)


def adam(p, g, state, rate, b1=0.9, b2=0.999, eps=1e-8, decay=0.0):
    """A step of Adam, or with `decay` of AdamW, for all parameters: the formulas of `optax.adamw`."""
    m, v, t = state
    t = t + 1
    m = jax.tree.map(lambda m, g: b1 * m + (1 - b1) * g, m, g)
    v = jax.tree.map(lambda v, g: b2 * v + (1 - b2) * g * g, v, g)
    first, second = 1 - b1 ** t.astype(jnp.float32), 1 - b2 ** t.astype(jnp.float32)

    def change(p, m, v):
        return p - rate * (m / first / (jnp.sqrt(v / second) + eps) + decay * p)

    return jax.tree.map(change, p, m, v), (m, v, t)


def fresh(p):
    """The state of Adam before the first step."""
    return jax.tree.map(jnp.zeros_like, p), jax.tree.map(jnp.zeros_like, p), jnp.zeros((), jnp.int32)


def layer_norm(x, scale, bias):
    centred = x - x.mean(-1, keepdims=True)
    return centred * jax.lax.rsqrt((centred * centred).mean(-1, keepdims=True) + 1e-5) * scale + bias


def attend(q, k, v, see):
    scores = jnp.where(see, q @ k.mT / q.shape[-1] ** 0.5, -jnp.inf)
    return jax.nn.softmax(scores) @ v


def split(x, sizes):
    return x.reshape(x.shape[0], -1, sizes.heads, sizes.size).swapaxes(1, 2)


def rest(x, seen, p):
    """A block after its attention, whose result is `seen`."""
    x = x + seen.swapaxes(1, 2).reshape(x.shape) @ p["wo"]
    h = layer_norm(x, p["scale2"], p["bias2"])
    return x + jax.nn.gelu(h @ p["w1"] + p["b1"], approximate=False) @ p["w2"] + p["b2"]


def block(x, p, sizes):
    h = layer_norm(x, p["scale1"], p["bias1"])
    q, k, v = split(h @ p["wq"], sizes), split(h @ p["wk"], sizes), split(h @ p["wv"], sizes)
    see = jnp.tril(jnp.ones((x.shape[1], x.shape[1]), bool))
    return rest(x, attend(q, k, v, see), p)


def stack(p, sizes):
    """The parameters of all blocks, which have a leading axis of blocks."""
    return {name: p[f"blocks.{name}"] for name in sizes.block}


def logits(p, x, sizes, last, unroll):
    h = p[sizes.tokens][x] + p["places"]
    h = jax.lax.scan(lambda h, layer: (block(h, layer, sizes), None), h, stack(p, sizes), unroll=unroll)[0]
    return layer_norm(h[:, -last:], p["scale"], p["bias"]) @ p["head"]


def cross_entropy(scores, y):
    return -jnp.take_along_axis(jax.nn.log_softmax(scores), y[..., None], -1).mean()


class Model:
    steps = 1

    def wait(self, value):
        jax.block_until_ready(value)

    def values(self):
        return [inputs.norm(self.p.values())]


class Transformer(Model):
    """A training step of a transformer. `unroll`: whether the loop over blocks is faster unrolled."""

    def __init__(self, sizes, batch, last, rate, limit=None, b2=0.999, unroll=False):
        self.p = device(inputs.parameters(sizes.shapes))
        self.state, self.number = fresh(self.p), 0
        self.batches = [device(batch(k)) for k in range(inputs.BATCHES)]

        @functools.partial(jax.jit, donate_argnums=(2, 3))
        def step(x, y, p, state):
            loss, g = jax.value_and_grad(lambda p: cross_entropy(logits(p, x, sizes, last, unroll), y))(p)
            if limit:
                length = jnp.sqrt(sum(jnp.sum(part * part) for part in g.values()))
                g = jax.tree.map(lambda part: part * jnp.minimum(1, limit / length), g)
            return loss, *adam(p, g, state, rate(state[2] + 1), b2=b2, decay=0.01)

        self.step = step

    def call(self):
        loss, self.p, self.state = self.step(*self.batches[self.number % inputs.BATCHES], self.p, self.state)
        self.number += 1
        return loss


def gpt():
    return Transformer(inputs.GPT, inputs.gpt_batch, 64, lambda t: 3e-4)


def addition():
    def rate(t):
        decay = jnp.minimum((t - 50) / (inputs.STEPS - 50), 1)
        return jnp.where(t < 50, 3e-3 * t / 50, 1.5e-3 * (1 + jnp.cos(jnp.pi * decay)))

    return Transformer(inputs.ADDITION, inputs.addition_batch, 4, rate, 1.0, 0.98, unroll=True)


class Generate(Model):
    """Writes tokens, each the most likely one, with a cache of keys and values: one call for all tokens."""

    steps = 64

    def __init__(self):
        sizes = inputs.GPT
        self.p = device(inputs.parameters(sizes.shapes))

        def read(p, cache, token, place):
            h = (p["tokens"][token] + p["places"][place])[None, None]
            see = jnp.arange(sizes.places) <= place

            def layer(h, of_layer):
                p, keys, values = of_layer
                x = layer_norm(h, p["scale1"], p["bias1"])
                keys = jax.lax.dynamic_update_slice(keys, split(x @ p["wk"], sizes), (0, 0, place, 0))
                values = jax.lax.dynamic_update_slice(values, split(x @ p["wv"], sizes), (0, 0, place, 0))
                return rest(h, attend(split(x @ p["wq"], sizes), keys, values, see), p), (keys, values)

            h, cache = jax.lax.scan(layer, h, (stack(p, sizes), *cache), unroll=True)
            return cache, (layer_norm(h[0, 0], p["scale"], p["bias"]) @ p["head"]).argmax()

        @jax.jit
        def write(p, first):
            empty = jnp.zeros((sizes.layers, 1, sizes.heads, sizes.places, sizes.size))

            def step(state, place):
                cache, token = read(p, *state, place)
                return (cache, token), token

            return jax.lax.scan(step, ((empty, empty), first), jnp.arange(self.steps))[1]

        self.write, self.first = write, jnp.array(1)

    def call(self):
        self.written = self.write(self.p, self.first)
        return self.written[-1]

    def values(self):
        return [float(token) for token in self.written]


class Cell(Model):
    """A training step of a recurrent layer by gradient descent."""

    def __init__(self, cell, shapes):
        self.p = device(inputs.parameters(shapes))
        self.xs, self.ys = device(inputs.series())

        def loss(p, xs, ys):
            zeros = jnp.zeros((xs.shape[1], 128))
            hs = jax.lax.scan(lambda state, x: cell(p, state, x), (zeros, zeros), xs)[1]
            return ((hs - ys) ** 2).mean()

        @functools.partial(jax.jit, donate_argnums=2)
        def step(xs, ys, p):
            value, g = jax.value_and_grad(loss)(p, xs, ys)
            return value, jax.tree.map(lambda p, g: p - 30.0 * g, p, g)

        self.step = step

    def call(self):
        loss, self.p = self.step(self.xs, self.ys, self.p)
        return loss


def lstm_cell(p, state, x):
    h, c = state
    i, f, g, o = jnp.split(x @ p["w"] + h @ p["u"] + p["b"], 4, axis=1)
    c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
    h = jax.nn.sigmoid(o) * jnp.tanh(c)
    return (h, c), h


def gru_cell(p, state, x):
    h, c = state
    (xr, xz, xn), (yr, yz, yn) = jnp.split(x @ p["w"] + p["b"], 3, 1), jnp.split(h @ p["u"] + p["d"], 3, 1)
    r, z = jax.nn.sigmoid(xr + yr), jax.nn.sigmoid(xz + yz)
    h = (1 - z) * jnp.tanh(xn + r * yn) + z * h
    return (h, c), h


class Adam(Model):
    """A step of Adam, given the gradient."""

    def __init__(self):
        self.p = device(inputs.parameters(inputs.ADAM))
        self.g, self.state = jax.tree.map(jnp.copy, self.p), fresh(self.p)

        @functools.partial(jax.jit, donate_argnums=(0, 2))
        def step(p, g, state):
            p, state = adam(p, g, state, 1e-3)
            return p["w1"][0, 0], p, state

        self.step = step

    def call(self):
        value, self.p, self.state = self.step(self.p, self.g, self.state)
        return value

    def values(self):
        return [*super().values(), float(self.p["b2"][502])]


class Logistic(Model):
    """Logistic regression by gradient descent."""

    steps = 100

    def __init__(self):
        self.p = device(inputs.parameters(inputs.LINE))
        self.x, self.y = device(inputs.examples())

        def loss(p, x, y):
            z = x @ p["w"] + p["b"]
            return -(y * jax.nn.log_sigmoid(z) + (1 - y) * jax.nn.log_sigmoid(-z)).mean()

        @functools.partial(jax.jit, donate_argnums=2)
        def descend(x, y, p):
            def step(_, state):
                value, g = jax.value_and_grad(loss)(state[0], x, y)
                return jax.tree.map(lambda p, g: p - 0.1 * g, state[0], g), value

            p, value = jax.lax.fori_loop(0, self.steps, step, (p, jnp.array(0.0)))
            return value, p

        self.descend = descend

    def call(self):
        loss, self.p = self.descend(self.x, self.y, self.p)
        return loss


class Vae(Model):
    """A training step of a variational autoencoder, given the noise."""

    def __init__(self):
        self.p = device(inputs.parameters(inputs.VAE))
        self.state, self.number = fresh(self.p), 0
        self.batches = [device(inputs.vae_batch(k)) for k in range(inputs.BATCHES)]

        def loss(p, x, noise):
            dense = lambda x, name: x @ p[f"{name}.w"] + p[f"{name}.b"]
            h = jax.nn.relu(dense(x, "read"))
            m, log_variance = dense(h, "mean"), dense(h, "spread")
            z = m + jnp.exp(0.5 * log_variance) * noise
            logits = dense(jax.nn.relu(dense(z, "draw")), "ink")
            fit = x * jax.nn.log_sigmoid(logits) + (1 - x) * jax.nn.log_sigmoid(-logits)
            divergence = 0.5 * (m * m + jnp.exp(log_variance) - 1 - log_variance)
            return (divergence.sum(1) - fit.sum(1)).mean()

        @functools.partial(jax.jit, donate_argnums=(2, 3))
        def step(x, noise, p, state):
            value, g = jax.value_and_grad(loss)(p, x, noise)
            return value, *adam(p, g, state, 2e-3)

        self.step = step

    def call(self):
        loss, self.p, self.state = self.step(*self.batches[self.number % inputs.BATCHES], self.p, self.state)
        self.number += 1
        return loss


def conv(x, filters, stride=1):
    """A convolution padded by one pixel on every side if the filters are 3×3."""
    side = filters.shape[0] // 2
    layout = ("NHWC", "HWIO", "NHWC")
    return jax.lax.conv_general_dilated(x, filters, (stride, stride), [(side, side)] * 2, dimension_numbers=layout)


def batch_norm(x, scale, bias):
    """Also returns the moments."""
    mean = x.mean((0, 1, 2))
    variance = ((x - mean) ** 2).mean((0, 1, 2))
    return (x - mean) * (jax.lax.rsqrt(variance + 1e-5) * scale) + bias, (mean, variance)


class LeNet(Model):
    """A training step of a network of two convolutions with batch norm."""

    def __init__(self):
        self.p = device(inputs.parameters(inputs.LENET))
        self.state, self.number = fresh(self.p), 0
        self.seen = [(jnp.zeros(size), jnp.zeros(size)) for size in (16, 32)]
        self.batches = [device(inputs.lenet_batch(k)) for k in range(inputs.BATCHES)]

        def loss(p, x, y):
            h, first = batch_norm(conv(x.reshape(-1, 8, 8, 1), p["f1"]), p["scale1"], p["bias1"])
            h = conv(jax.nn.relu(h), p["f2"])
            h = jax.lax.reduce_window(h, -jnp.inf, jax.lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")
            h, second = batch_norm(h, p["scale2"], p["bias2"])
            h = jax.nn.relu(jax.nn.relu(h).reshape(-1, 512) @ p["w1"] + p["b1"])
            return cross_entropy(h @ p["w2"] + p["b2"], y), [first, second]

        @functools.partial(jax.jit, donate_argnums=(2, 3, 4))
        def step(x, y, p, state, seen):
            (value, moments), g = jax.value_and_grad(loss, has_aux=True)(p, x, y)
            seen = jax.tree.map(lambda old, new: old + 0.1 * (new - old), seen, moments)
            return value, *adam(p, g, state, 1e-4, decay=0.01), seen

        self.step = step

    def call(self):
        batch = self.batches[self.number % inputs.BATCHES]
        loss, self.p, self.state, self.seen = self.step(*batch, self.p, self.state, self.seen)
        self.number += 1
        return loss


def residual(p, x, norm):
    """The residual network. `norm` normalizes by the parameters with a prefix and a number."""

    def block(x, name):
        stride = 2 if f"{name}.f3" in p else 1
        h = jax.nn.relu(norm(conv(x, p[f"{name}.f1"], stride), f"{name}.", 1))
        h = norm(conv(h, p[f"{name}.f2"]), f"{name}.", 2)
        beside = norm(conv(x, p[f"{name}.f3"], stride), f"{name}.", 3) if stride == 2 else x
        return jax.nn.relu(beside + h)

    h = jax.nn.relu(norm(conv(x, p["f"]), "", ""))
    for name in ("first", "second", "third"):
        h = block(h, name)
    return h.mean((1, 2)) @ p["w"] + p["b"]


class ResNet(Model):
    """A training step of a residual network by gradient descent."""

    def __init__(self):
        self.p, self.number = device(inputs.parameters(inputs.RESNET)), 0
        self.batches = [device(inputs.resnet_batch(k)) for k in range(inputs.BATCHES)]

        def loss(p, x, y):
            def norm(x, prefix, number):
                return batch_norm(x, p[f"{prefix}scale{number}"], p[f"{prefix}bias{number}"])[0]

            return cross_entropy(residual(p, x, norm), y)

        @functools.partial(jax.jit, donate_argnums=2)
        def step(x, y, p):
            value, g = jax.value_and_grad(loss)(p, x, y)
            return value, jax.tree.map(lambda p, g: p - 0.02 * g, p, g)

        self.step = step

    def call(self):
        loss, self.p = self.step(*self.batches[self.number % inputs.BATCHES], self.p)
        self.number += 1
        return loss


class ResNetOne(Model):
    """The residual network reads one picture."""

    def __init__(self):
        self.p = device(inputs.parameters(inputs.RESNET_ONE))
        self.picture = device(inputs.resnet_picture())

        @jax.jit
        def read(p, x):
            def norm(x, prefix, number):
                scale, bias, center, variance = (
                    p[f"{prefix}norm{number}.{part}"] for part in ("scale", "bias", "center", "variance")
                )
                return (x - center) * (jax.lax.rsqrt(variance + 1e-5) * scale) + bias

            scores = residual(p, x, norm)[0]
            return scores[0], scores

        self.read = read

    def call(self):
        first, self.scores = self.read(self.p, self.picture)
        return first

    def values(self):
        return self.scores.tolist()


class Gp(Model):
    """The marginal likelihood of a Gaussian process, its gradient, and a step along it, in `f64`."""

    def __init__(self):
        jax.config.update("jax_enable_x64", True)
        self.kernel = jnp.array(inputs.KERNEL)
        self.x, self.y = device(inputs.points())

        def loss(kernel, x, y):
            distance = (x[:, None] - x) * jnp.exp(-kernel[1])
            clean = jnp.exp(2 * kernel[0] - 0.5 * distance * distance)
            factor = jnp.linalg.cholesky(clean + jnp.exp(2 * kernel[2]) * jnp.eye(len(x)))
            z = jax.scipy.linalg.solve_triangular(factor, y, lower=True)
            return 0.5 * (z * z).sum() + jnp.log(jnp.diagonal(factor)).sum()

        @functools.partial(jax.jit, donate_argnums=2)
        def step(x, y, kernel):
            value, g = jax.value_and_grad(loss)(kernel, x, y)
            return value, kernel - 1e-4 * g

        self.step = step

    def call(self):
        loss, self.kernel = self.step(self.x, self.y, self.kernel)
        return loss

    def values(self):
        return self.kernel.tolist()


MODELS = {
    "gpt": gpt,
    "gpt_generate": Generate,
    "lstm": lambda: Cell(lstm_cell, inputs.LSTM),
    "gru": lambda: Cell(gru_cell, inputs.GRU),
    "adam": Adam,
    "logistic": Logistic,
    "addition": addition,
    "vae": Vae,
    "lenet": LeNet,
    "resnet": ResNet,
    "resnet_one": ResNetOne,
    "gp": Gp,
}
