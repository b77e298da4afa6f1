"""The models in PyTorch, eager and in `torch.compile`."""

import math
import os

import torch
import torch.nn as nn
import torch.nn.functional as F

import inputs

torch.set_num_threads(int(os.environ.get("OMP_NUM_THREADS", "1")))


def linear(w, b=None):
    """A layer with the weights `w`, whose rows are inputs."""
    layer = nn.Linear(*w.shape, bias=b is not None)
    with torch.no_grad():
        layer.weight.copy_(torch.from_numpy(w.T.copy()))
        if b is not None:
            layer.bias.copy_(torch.from_numpy(b))
    return layer


def layer_norm(scale, bias):
    layer = nn.LayerNorm(len(scale))
    with torch.no_grad():
        layer.weight.copy_(torch.from_numpy(scale))
        layer.bias.copy_(torch.from_numpy(bias))
    return layer


class Block(nn.Module):
    def __init__(self, sizes, p):
        super().__init__()
        self.sizes = sizes
        self.norm1, self.norm2 = layer_norm(p["scale1"], p["bias1"]), layer_norm(p["scale2"], p["bias2"])
        self.q, self.k, self.v, self.o = (linear(p[name]) for name in ("wq", "wk", "wv", "wo"))
        self.inner, self.outer = linear(p["w1"], p["b1"]), linear(p["w2"], p["b2"])

    def heads(self, x):
        return x.view(x.shape[0], -1, self.sizes.heads, self.sizes.size).transpose(1, 2)

    def rest(self, x, seen):
        """The block after its attention, whose result is `seen`."""
        x = x + self.o(seen.transpose(1, 2).reshape(x.shape))
        return x + self.outer(F.gelu(self.inner(self.norm2(x))))

    def forward(self, x):
        h = self.norm1(x)
        q, k, v = self.heads(self.q(h)), self.heads(self.k(h)), self.heads(self.v(h))
        return self.rest(x, F.scaled_dot_product_attention(q, k, v, is_causal=True))

    def read(self, x, keys, values, place):
        """The block for one position, which sees the earlier positions in the cache. `place` is a number."""
        h = self.norm1(x)
        keys[:, :, place : place + 1] = self.heads(self.k(h))
        values[:, :, place : place + 1] = self.heads(self.v(h))
        keys, values = keys[:, :, : place + 1], values[:, :, : place + 1]
        return self.rest(x, F.scaled_dot_product_attention(self.heads(self.q(h)), keys, values))

    def read_fixed(self, x, keys, values, place, see):
        """The same with a mask and with shapes that do not change, for `torch.compile`. `place` is a tensor."""
        h = self.norm1(x)
        keys.index_copy_(2, place, self.heads(self.k(h)))
        values.index_copy_(2, place, self.heads(self.v(h)))
        return self.rest(x, F.scaled_dot_product_attention(self.heads(self.q(h)), keys, values, attn_mask=see))


class Gpt(nn.Module):
    def __init__(self, sizes, last):
        super().__init__()
        p = inputs.parameters(sizes.shapes)
        self.last = last
        self.tokens = nn.Embedding.from_pretrained(torch.from_numpy(p[sizes.tokens]), freeze=False)
        self.places = nn.Parameter(torch.from_numpy(p["places"]))
        layers = ({name: p[f"blocks.{name}"][layer] for name in sizes.block} for layer in range(sizes.layers))
        self.blocks = nn.ModuleList(Block(sizes, layer) for layer in layers)
        self.norm, self.head = layer_norm(p["scale"], p["bias"]), linear(p["head"])

    def forward(self, x):
        h = self.tokens(x) + self.places
        for block in self.blocks:
            h = block(h)
        return self.head(self.norm(h[:, -self.last :]))


def norm(module):
    return inputs.norm(parameter.detach().numpy() for parameter in module.parameters())


class Model:
    steps = 1

    def wait(self, value):
        """Results of PyTorch on CPUs are there when a call returns."""

    def values(self):
        return [norm(self.module)]


class Transformer(Model):
    """A training step of a transformer."""

    def __init__(self, compiled, sizes, batch, last, rate=None, limit=None, **options):
        self.module, self.rate, self.limit, self.number = Gpt(sizes, last), rate, limit, 0
        self.forward = torch.compile(self.loss) if compiled else self.loss
        self.batches = [[torch.from_numpy(part.copy()) for part in batch(k)] for k in range(inputs.BATCHES)]
        self.optimiser = torch.optim.AdamW(self.module.parameters(), weight_decay=0.01, fused=True, **options)

    def loss(self, x, y):
        return F.cross_entropy(self.module(x).flatten(0, 1), y.flatten())

    def call(self):
        x, y = self.batches[self.number % inputs.BATCHES]
        self.number += 1
        self.optimiser.zero_grad()
        loss = self.forward(x, y)
        loss.backward()
        if self.limit:
            nn.utils.clip_grad_norm_(self.module.parameters(), self.limit)
        if self.rate:
            self.optimiser.param_groups[0]["lr"] = self.rate(self.number)
        self.optimiser.step()
        return loss.detach()


def gpt(compiled):
    return Transformer(compiled, inputs.GPT, inputs.gpt_batch, 64, lr=3e-4)


def addition(compiled):
    def rate(t):
        decay = min((t - 50) / (inputs.STEPS - 50), 1)
        return 3e-3 * t / 50 if t < 50 else 1.5e-3 * (1 + math.cos(math.pi * decay))

    return Transformer(compiled, inputs.ADDITION, inputs.addition_batch, 4, rate, 1.0, lr=3e-3, betas=(0.9, 0.98))


class Generate(Model):
    """Writes tokens, each the most likely one, with a cache of keys and values."""

    steps = 64

    def __init__(self, compiled):
        sizes = inputs.GPT
        self.module = Gpt(sizes, 1)
        shape = (1, sizes.heads, sizes.places, sizes.size)
        self.cache = [(torch.zeros(shape), torch.zeros(shape)) for _ in self.module.blocks]
        self.places = [torch.tensor([place]) for place in range(sizes.places)]
        self.range = torch.arange(sizes.places)
        self.read = torch.compile(self.read_fixed) if compiled else self.read_place
        self.written = []

    def last(self, h):
        return self.module.head(self.module.norm(h[:, 0])).argmax(1)

    def read_place(self, token, place):
        place = int(place)
        h = (self.module.tokens(token) + self.module.places[place])[:, None]
        for block, (keys, values) in zip(self.module.blocks, self.cache):
            h = block.read(h, keys, values, place)
        return self.last(h)

    def read_fixed(self, token, place):
        h = (self.module.tokens(token) + self.module.places[place])[:, None]
        see = (self.range <= place)[None]
        for block, (keys, values) in zip(self.module.blocks, self.cache):
            h = block.read_fixed(h, keys, values, place, see)
        return self.last(h)

    @torch.inference_mode()
    def call(self):
        token, self.written = torch.tensor([1]), []
        for place in self.places:
            token = self.read(token, place)
            self.written.append(token)
        return token

    def values(self):
        return [float(token) for token in self.written]


class Steps(nn.Module):
    """A cell in a loop, which torch.compile unrolls. It takes `nn.LSTM` and `nn.GRU` as they are."""

    def __init__(self, layer):
        super().__init__()
        self.layer = layer

    def forward(self, xs):
        layer, hs = self.layer, []
        h = c = xs.new_zeros(xs.shape[1], layer.hidden_size)
        for x in xs @ layer.weight_ih_l0.T + layer.bias_ih_l0:
            y = h @ layer.weight_hh_l0.T + layer.bias_hh_l0
            if layer.mode == "LSTM":
                i, f, g, o = (x + y).chunk(4, 1)
                c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
                h = torch.sigmoid(o) * torch.tanh(c)
            else:
                (xr, xz, xn), (yr, yz, yn) = x.chunk(3, 1), y.chunk(3, 1)
                r, z = torch.sigmoid(xr + yr), torch.sigmoid(xz + yz)
                h = (1 - z) * torch.tanh(xn + r * yn) + z * h
            hs.append(h)
        return torch.stack(hs)


class Cell(Model):
    """A training step of a recurrent layer by gradient descent."""

    def __init__(self, compiled, layer, shapes):
        p = {name: torch.from_numpy(array) for name, array in inputs.parameters(shapes).items()}
        self.module = layer(64, 128)
        with torch.no_grad():
            self.module.weight_ih_l0.copy_(p["w"].T)
            self.module.weight_hh_l0.copy_(p["u"].T)
            self.module.bias_ih_l0.copy_(p["b"])
            # An LSTM has one bias in the other libraries.
            self.module.bias_hh_l0.copy_(p.get("d", torch.tensor(0.0)))
            self.module.bias_hh_l0.requires_grad_("d" in p)
        self.forward = torch.compile(Steps(self.module)) if compiled else lambda xs: self.module(xs)[0]
        self.xs, self.ys = (torch.from_numpy(array) for array in inputs.series())
        trained = [parameter for parameter in self.module.parameters() if parameter.requires_grad]
        self.optimiser = torch.optim.SGD(trained, lr=30.0, fused=True)

    def call(self):
        self.optimiser.zero_grad()
        loss = F.mse_loss(self.forward(self.xs), self.ys)
        loss.backward()
        self.optimiser.step()
        return loss.detach()


class Adam(Model):
    """A step of Adam, given the gradient."""

    def __init__(self, compiled):
        self.module = nn.ParameterList(map(torch.from_numpy, inputs.parameters(inputs.ADAM).values()))
        for parameter in self.module:
            parameter.grad = parameter.detach().clone()
        kernel = {} if compiled else {"fused": True}
        self.optimiser = torch.optim.Adam(self.module.parameters(), lr=1e-3, **kernel)
        self.step = torch.compile(self.optimiser.step) if compiled else self.optimiser.step

    def call(self):
        self.step()
        return self.module[0][0, 0].detach()

    def values(self):
        return [norm(self.module), float(self.module[3][502].detach())]


class Logistic(Model):
    """Logistic regression by gradient descent."""

    steps = 100

    def __init__(self, compiled):
        self.module = nn.ParameterList(map(torch.from_numpy, inputs.parameters(inputs.LINE).values()))
        self.forward = torch.compile(self.loss) if compiled else self.loss
        self.x, self.y = (torch.from_numpy(array) for array in inputs.examples())
        self.optimiser = torch.optim.SGD(self.module.parameters(), lr=0.1, fused=True)

    def loss(self, x, y):
        w, b = self.module
        return F.binary_cross_entropy_with_logits(x @ w + b, y)

    def call(self):
        for _ in range(self.steps):
            self.optimiser.zero_grad()
            loss = self.forward(self.x, self.y)
            loss.backward()
            self.optimiser.step()
        return loss.detach()


class Vae(Model):
    """A training step of a variational autoencoder, given the noise."""

    def __init__(self, compiled):
        p = inputs.parameters(inputs.VAE)
        names = ("read", "mean", "spread", "draw", "ink")
        self.module = nn.ModuleDict({name: linear(p[f"{name}.w"], p[f"{name}.b"]) for name in names})
        self.forward, self.number = torch.compile(self.loss) if compiled else self.loss, 0
        self.batches = [list(map(torch.from_numpy, inputs.vae_batch(k))) for k in range(inputs.BATCHES)]
        self.optimiser = torch.optim.Adam(self.module.parameters(), lr=2e-3, fused=True)

    def loss(self, x, noise):
        net = self.module
        h = F.relu(net["read"](x))
        m, log_variance = net["mean"](h), net["spread"](h)
        z = m + torch.exp(0.5 * log_variance) * noise
        logits = net["ink"](F.relu(net["draw"](z)))
        misfit = F.binary_cross_entropy_with_logits(logits, x, reduction="sum")
        divergence = 0.5 * (m * m + torch.exp(log_variance) - 1 - log_variance)
        return (misfit + divergence.sum()) / len(x)

    def call(self):
        x, noise = self.batches[self.number % inputs.BATCHES]
        self.number += 1
        self.optimiser.zero_grad()
        loss = self.forward(x, noise)
        loss.backward()
        self.optimiser.step()
        return loss.detach()


def conv(filters, stride=1):
    """A convolution with filters `[height, width, in, out]`, padded by one pixel on every side if they are 3×3."""
    size, _, inner, outer = filters.shape
    layer = nn.Conv2d(inner, outer, size, stride, size // 2, bias=False)
    with torch.no_grad():
        layer.weight.copy_(torch.from_numpy(filters).permute(3, 2, 0, 1))
    return layer


def batch_norm(scale, bias, center=None, variance=None, averages=True):
    layer = nn.BatchNorm2d(len(scale), track_running_stats=averages)
    with torch.no_grad():
        layer.weight.copy_(torch.from_numpy(scale))
        layer.bias.copy_(torch.from_numpy(bias))
        if center is not None:
            layer.running_mean.copy_(torch.from_numpy(center))
            layer.running_var.copy_(torch.from_numpy(variance))
    return layer


class LeNet(Model):
    """A training step of a network of two convolutions with batch norm."""

    def __init__(self, compiled):
        p = inputs.parameters(inputs.LENET)
        # The features of a pixel are together in the rows of the weights, those of a channel here.
        w1 = p["w1"].reshape(4, 4, 32, 128).transpose(2, 0, 1, 3).reshape(512, 128)
        self.module = nn.Sequential(
            conv(p["f1"]), batch_norm(p["scale1"], p["bias1"]), nn.ReLU(),
            conv(p["f2"]), nn.MaxPool2d(2), batch_norm(p["scale2"], p["bias2"]), nn.ReLU(),
            nn.Flatten(), linear(w1, p["b1"]), nn.ReLU(), linear(p["w2"], p["b2"]),
        )
        self.forward, self.number = torch.compile(self.loss) if compiled else self.loss, 0
        self.batches = [list(map(torch.from_numpy, inputs.lenet_batch(k))) for k in range(inputs.BATCHES)]
        self.optimiser = torch.optim.AdamW(self.module.parameters(), lr=1e-4, weight_decay=0.01, fused=True)

    def loss(self, x, y):
        return F.cross_entropy(self.module(x.view(-1, 1, 8, 8)), y)

    def call(self):
        x, y = self.batches[self.number % inputs.BATCHES]
        self.number += 1
        self.optimiser.zero_grad()
        loss = self.forward(x, y)
        loss.backward()
        self.optimiser.step()
        return loss.detach()


class Residual(nn.Module):
    """A block of two convolutions. `norm` makes a norm from its number."""

    def __init__(self, p, norm):
        super().__init__()
        stride = 2 if "f3" in p else 1
        self.conv1, self.norm1 = conv(p["f1"], stride), norm(1)
        self.conv2, self.norm2 = conv(p["f2"]), norm(2)
        self.beside = nn.Sequential(conv(p["f3"], stride), norm(3)) if stride == 2 else nn.Identity()

    def forward(self, x):
        h = F.relu(self.norm1(self.conv1(x)))
        return F.relu(self.beside(x) + self.norm2(self.conv2(h)))


class ResidualNetwork(nn.Module):
    """Three blocks. `norm` makes a norm from the parameters below a prefix and a number."""

    def __init__(self, p, norm):
        super().__init__()
        self.conv, self.norm = conv(p["f"]), norm(p, "")

        def below(name):
            return {key.split(".", 1)[1]: part for key, part in p.items() if key.startswith(name + ".")}

        blocks = (below(name) for name in ("first", "second", "third"))
        self.blocks = nn.Sequential(*(Residual(q, lambda number, q=q: norm(q, number)) for q in blocks))
        self.head = linear(p["w"], p["b"])

    def forward(self, x):
        h = self.blocks(F.relu(self.norm(self.conv(x))))
        return self.head(h.mean((2, 3)))


class ResNet(Model):
    """A training step of a residual network by gradient descent."""

    def __init__(self, compiled):
        def norm(p, number):
            return batch_norm(p[f"scale{number}"], p[f"bias{number}"], averages=False)

        self.module = ResidualNetwork(inputs.parameters(inputs.RESNET), norm)
        self.forward, self.number = torch.compile(self.loss) if compiled else self.loss, 0
        batches = (map(torch.from_numpy, inputs.resnet_batch(k)) for k in range(inputs.BATCHES))
        self.batches = [(x.permute(0, 3, 1, 2).contiguous(), y) for x, y in batches]
        self.optimiser = torch.optim.SGD(self.module.parameters(), lr=0.02, fused=True)

    def loss(self, x, y):
        return F.cross_entropy(self.module(x), y)

    def call(self):
        x, y = self.batches[self.number % inputs.BATCHES]
        self.number += 1
        self.optimiser.zero_grad()
        loss = self.forward(x, y)
        loss.backward()
        self.optimiser.step()
        return loss.detach()


class ResNetOne(Model):
    """The residual network reads one picture."""

    def __init__(self, compiled):
        def norm(p, number):
            parts = ("scale", "bias", "center", "variance")
            return batch_norm(*(p[f"norm{number}.{part}"] for part in parts))

        self.module = ResidualNetwork(inputs.parameters(inputs.RESNET_ONE), norm).eval()
        self.forward = torch.compile(self.module) if compiled else self.module
        self.picture = torch.from_numpy(inputs.resnet_picture()).permute(0, 3, 1, 2).contiguous()

    @torch.inference_mode()
    def call(self):
        self.scores = self.forward(self.picture)[0]
        return self.scores[0]

    def values(self):
        return self.scores.tolist()


class Gp(Model):
    """The marginal likelihood of a Gaussian process, its gradient, and a step along it, in `f64`."""

    def __init__(self, compiled):
        self.kernel = torch.tensor(inputs.KERNEL, dtype=torch.float64, requires_grad=True)
        self.x, self.y = map(torch.from_numpy, inputs.points())
        self.forward = torch.compile(self.loss) if compiled else self.loss

    def loss(self, x, y, kernel):
        distance = (x[:, None] - x) * torch.exp(-kernel[1])
        clean = torch.exp(2 * kernel[0] - 0.5 * distance * distance)
        noise = torch.exp(2 * kernel[2]) * torch.eye(len(x), dtype=torch.float64)
        factor = torch.linalg.cholesky(clean + noise)
        z = torch.linalg.solve_triangular(factor, y[:, None], upper=False)
        return 0.5 * (z * z).sum() + factor.diagonal().log().sum()

    def call(self):
        self.kernel.grad = None
        loss = self.forward(self.x, self.y, self.kernel)
        loss.backward()
        with torch.no_grad():
            self.kernel -= 1e-4 * self.kernel.grad
        return loss.detach()

    def values(self):
        return self.kernel.tolist()


MODELS = {
    "gpt": gpt,
    "gpt_generate": Generate,
    "lstm": lambda compiled: Cell(compiled, nn.LSTM, inputs.LSTM),
    "gru": lambda compiled: Cell(compiled, nn.GRU, inputs.GRU),
    "adam": Adam,
    "logistic": Logistic,
    "addition": addition,
    "vae": Vae,
    "lenet": LeNet,
    "resnet": ResNet,
    "resnet_one": ResNetOne,
    "gp": Gp,
}
