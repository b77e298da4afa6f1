"""The programs of mind-xla's example `gpu_step` in JAX and PyTorch, for `ci/gpu`.

    gpu.py jax|torch small|large SECONDS
    gpu.py jax small|large hlo

With `hlo`, it prints the compiled program of the GPT. Else it prints the lines of `gpu_step`: the same programs, data and initial parameters, each with products in f32 and in TF32.
It runs on a GPU where the library finds one, and else on the processor.
"""

import math
import sys
import time

import numpy as np

LOSSES = 3
GPTS = {"small": dict(layers=2, width=64, inner=256, heads=4, context=32, rows=2),
        "large": dict(layers=4, width=512, inner=2048, heads=8, context=256, rows=16)}
MLPS = {"small": (128, [32, 256]), "large": (1024, [32, 512, 8192])}


def mixed(index):
    """A hash of indices."""
    x = (index.astype(np.uint32) * np.uint32(2654435761) + np.uint32(40503)).astype(np.uint32)
    x = ((x ^ (x >> np.uint32(16))) * np.uint32(0x45D9F3B)).astype(np.uint32)
    return x ^ (x >> np.uint32(16))


def uniform(index):
    return ((mixed(index) >> np.uint32(8)).astype(np.float32) / np.float32(1 << 23) - np.float32(1)).astype(np.float32)


def gpt_batch(number, rows, context, **_):
    texts = number * rows + np.arange(rows)[:, None]
    index = texts * (context + 1) + np.arange(context + 1)
    tokens = (mixed(index) % 256).astype(np.int64)
    return tokens[:, :-1].copy(), tokens[:, 1:].copy()


def mlp_batch(number, rows):
    texts = number * rows + np.arange(rows)
    return uniform(texts[:, None] * 784 + np.arange(784)), (mixed(texts) % 10).astype(np.int64)


def gpt_shapes(layers, width, inner, context, **_):
    block = dict(scale1=[width], bias1=[width], wq=[width, width], wk=[width, width], wv=[width, width],
                 wo=[width, width], scale2=[width], bias2=[width], w1=[width, inner], b1=[inner], w2=[inner, width],
                 b2=[width])
    shapes = dict(tokens=[256, width], places=[context, width])
    shapes |= {f"blocks.{name}": [layers, *dims] for name, dims in block.items()}
    return shapes | dict(scale=[width], bias=[width], head=[width, 256])


def mlp_shapes(width):
    return dict(w1=[784, width], b1=[width], w2=[width, width], b2=[width], w3=[width, 10], b3=[10])


def parameters(shapes):
    """The initial parameters of all libraries."""
    start, all_of_them = 0, {}
    for name, dims in shapes.items():
        count, last = math.prod(dims), name.split(".")[-1]
        if last in ("scale", "scale1", "scale2"):
            values = np.ones(count, np.float32)
        elif last in ("bias", "bias1", "bias2", "b1", "b2", "b3"):
            values = np.zeros(count, np.float32)
        else:
            values = np.float32(0.05) * uniform(start + np.arange(count))
        all_of_them[name] = values.reshape(dims)
        start += count
    return all_of_them


def measure(seconds, steps):
    """The least of three mean times of a step, as in `gpu_step`."""
    count, times = 1, []
    while len(times) < 3:
        start = time.perf_counter()
        assert math.isfinite(steps(count))
        elapsed = time.perf_counter() - start
        if 4 * elapsed >= seconds:
            times.append(elapsed / count)
        else:
            count = min(max(int(seconds / 3 / max(elapsed, 1e-9) * count), count + 1), 8 * count)
    return min(times)


def report(name, precision, training, data, compile_time, memory, seconds):
    """Measures a training and prints its line. A training has `put`, `step`, and `read`."""

    def from_host(count):
        losses = []
        ahead = training.put(*data[0])
        for number in range(1, count + 1):
            # As in `gpu_step`, the next batch is on its way while a step runs.
            batch, ahead = ahead, training.put(*data[number % len(data)]) if number < count else None
            losses.append(training.step(*batch))
        return losses

    losses = [training.read(loss) for loss in from_host(LOSSES)]
    batch = training.put(*data[0])

    def each(count):
        return [training.read(training.step(*batch)) for _ in range(count)][-1]

    def queued(count):
        return training.read([training.step(*batch) for _ in range(count)][-1])

    times = [measure(seconds, steps) for steps in (each, queued, lambda count: training.read(from_host(count)[-1]))]
    print(f"program={name} precision={precision} each={times[0]} queued={times[1]} host={times[2]} memory={memory()} "
          f"compile={compile_time} losses={','.join(map(str, losses))}", flush=True)


def cases(size):
    """The names, programs and batches."""
    gpt = GPTS[size]
    yield "gpt", gpt, [gpt_batch(number, **gpt) for number in range(4)]
    width, rows = MLPS[size]
    for count in rows:
        yield f"mlp{count}", width, [mlp_batch(number, count) for number in range(4)]


def in_jax(size, seconds):
    import jax
    import jax.numpy as jnp

    jax.config.update("jax_enable_x64", True)
    if seconds != "hlo":
        print(f"device={jax.devices()[0].device_kind.replace(' ', '_')}", flush=True)

    def layer_norm(x, scale, bias):
        centred = x - x.mean(-1, keepdims=True)
        return centred * jax.lax.rsqrt((centred * centred).mean(-1, keepdims=True) + 1e-5) * scale + bias

    def cross_entropy(scores, y):
        return -jnp.take_along_axis(jax.nn.log_softmax(scores), y[..., None], -1).mean()

    def gpt_loss(p, x, y, heads, **_):
        split = lambda x: x.reshape(x.shape[0], -1, heads, x.shape[2] // heads).swapaxes(1, 2)
        see = jnp.tril(jnp.ones((x.shape[1], x.shape[1]), bool))

        def block(h, p):
            x = layer_norm(h, p["scale1"], p["bias1"])
            q, k, v = split(x @ p["wq"]), split(x @ p["wk"]), split(x @ p["wv"])
            seen = jax.nn.softmax(jnp.where(see, q @ k.mT / q.shape[-1] ** 0.5, -jnp.inf)) @ v
            h = h + seen.swapaxes(1, 2).reshape(h.shape) @ p["wo"]
            x = layer_norm(h, p["scale2"], p["bias2"])
            return h + jax.nn.gelu(x @ p["w1"] + p["b1"], approximate=False) @ p["w2"] + p["b2"], None

        blocks = {name[7:]: value for name, value in p.items() if name.startswith("blocks.")}
        h = jax.lax.scan(block, p["tokens"][x] + p["places"], blocks)[0]
        return cross_entropy(layer_norm(h, p["scale"], p["bias"]) @ p["head"], y)

    def mlp_loss(p, x, y):
        h = jax.nn.relu(jax.nn.relu(x @ p["w1"] + p["b1"]) @ p["w2"] + p["b2"])
        return cross_entropy(h @ p["w3"] + p["b3"], y)

    def adamw(p, g, state):
        m, v, t = state
        t = t + 1
        m = jax.tree.map(lambda m, g: 0.9 * m + (1 - 0.9) * g, m, g)
        v = jax.tree.map(lambda v, g: 0.999 * v + (1 - 0.999) * g * g, v, g)
        first, second = (1 - b ** t.astype(jnp.float32) for b in (jnp.float32(0.9), jnp.float32(0.999)))
        change = lambda p, m, v: p - 3e-4 * (m / first / (jnp.sqrt(v / second) + 1e-8) + 0.01 * p)
        return jax.tree.map(change, p, m, v), (m, v, t)

    class Training:
        def __init__(self, program, data):
            is_gpt = isinstance(program, dict)
            p = parameters(gpt_shapes(**program) if is_gpt else mlp_shapes(program))
            self.p = {name: jnp.array(value) for name, value in p.items()}
            zeros = lambda: jax.tree.map(jnp.zeros_like, self.p)
            self.state = (zeros(), zeros(), jnp.zeros((), jnp.int64)) if is_gpt else ()

            def step(x, y, p, state):
                loss = lambda p: gpt_loss(p, x, y, **program) if is_gpt else mlp_loss(p, x, y)
                value, g = jax.value_and_grad(loss)(p)
                if is_gpt:
                    return value, *adamw(p, g, state)
                return value, jax.tree.map(lambda p, g: p - 0.1 * g, p, g), state

            start = time.perf_counter()
            lowered = jax.jit(step, donate_argnums=(2, 3)).lower(*self.put(*data), self.p, self.state)
            self.compiled = lowered.compile()
            self.compile_time = time.perf_counter() - start

        def put(self, x, y):
            return jax.device_put(x), jax.device_put(y)

        def step(self, x, y):
            loss, self.p, self.state = self.compiled(x, y, self.p, self.state)
            return loss

        def read(self, loss):
            return float(loss)

        def memory(self):
            found = self.compiled.memory_analysis()
            return (found.argument_size_in_bytes + found.output_size_in_bytes - found.alias_size_in_bytes
                    + found.temp_size_in_bytes)

    for name, program, data in cases(size):
        for label, precision in (("f32", "highest"), ("tf32", "tensorfloat32")):
            with jax.default_matmul_precision(precision):
                training = Training(program, data[0])
            if seconds == "hlo":
                print(training.compiled.as_text())
                return
            report(name, label, training, data, training.compile_time, training.memory, seconds)


def in_torch(size, seconds):
    import torch
    import torch.nn.functional as F

    on_gpu = torch.cuda.is_available()
    device = torch.device("cuda" if on_gpu else "cpu")
    kind = torch.cuda.get_device_name() if on_gpu else "cpu"
    print(f"device={kind.replace(' ', '_')}", flush=True)

    def layer_norm(x, scale, bias):
        return F.layer_norm(x, scale.shape, scale, bias)

    def gpt_loss(p, x, y, layers, heads, **_):
        split = lambda x: x.view(x.shape[0], -1, heads, x.shape[2] // heads).transpose(1, 2)
        h = p["tokens"][x] + p["places"]
        for layer in range(layers):
            b = {name[7:]: value[layer] for name, value in p.items() if name.startswith("blocks.")}
            z = layer_norm(h, b["scale1"], b["bias1"])
            seen = F.scaled_dot_product_attention(split(z @ b["wq"]), split(z @ b["wk"]), split(z @ b["wv"]), is_causal=True)
            h = h + seen.transpose(1, 2).reshape(h.shape) @ b["wo"]
            z = layer_norm(h, b["scale2"], b["bias2"])
            h = h + F.gelu(z @ b["w1"] + b["b1"]) @ b["w2"] + b["b2"]
        scores = layer_norm(h, p["scale"], p["bias"]) @ p["head"]
        return F.cross_entropy(scores.flatten(0, 1), y.flatten())

    def mlp_loss(p, x, y):
        h = torch.relu(torch.relu(x @ p["w1"] + p["b1"]) @ p["w2"] + p["b2"])
        return F.cross_entropy(h @ p["w3"] + p["b3"], y)

    class Training:
        def __init__(self, program):
            if on_gpu:
                torch.cuda.reset_peak_memory_stats()
            is_gpt = isinstance(program, dict)
            p = parameters(gpt_shapes(**program) if is_gpt else mlp_shapes(program))
            self.p = {name: torch.from_numpy(value).to(device).requires_grad_() for name, value in p.items()}
            self.loss = (lambda x, y: gpt_loss(self.p, x, y, **program)) if is_gpt else (lambda x, y: mlp_loss(self.p, x, y))
            if is_gpt:
                self.optimiser = torch.optim.AdamW(self.p.values(), lr=3e-4, weight_decay=0.01, fused=True)
            else:
                self.optimiser = torch.optim.SGD(self.p.values(), lr=0.1, fused=True)

        def put(self, x, y):
            x, y = torch.from_numpy(x), torch.from_numpy(y)
            if not on_gpu:
                return x, y
            return tuple(tensor.pin_memory().to(device, non_blocking=True) for tensor in (x, y))

        def step(self, x, y):
            self.optimiser.zero_grad()
            loss = self.loss(x, y)
            loss.backward()
            self.optimiser.step()
            return loss.detach()

        def read(self, loss):
            return loss.item()

        def memory(self):
            return torch.cuda.max_memory_allocated() if on_gpu else 0

    for name, program, data in cases(size):
        for label in ("f32", "tf32"):
            torch.set_float32_matmul_precision("highest" if label == "f32" else "high")
            training = Training(program)
            # PyTorch compiles nothing here: each operation is a kernel of the library.
            report(name, label, training, data, 0.0, training.memory, seconds)


if __name__ == "__main__":
    library, size, seconds = sys.argv[1:]
    {"jax": in_jax, "torch": in_torch}[library](size, seconds if seconds == "hlo" else float(seconds))
