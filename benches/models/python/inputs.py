"""Inputs and parameters that are the same in every library; `../shared/inputs.rs` has the same functions."""

import numpy as np


def mix(seed, count):
    """The hash lowbias32 of Chris Wellons, for each element of the sequence that belongs to `seed`."""
    x = np.arange(count, dtype=np.uint32) + np.uint32(seed * 0x9E3779B9 & 0xFFFFFFFF)
    x = (x ^ (x >> np.uint32(16))) * np.uint32(0x7FEB352D)
    x = (x ^ (x >> np.uint32(15))) * np.uint32(0x846CA68B)
    return x ^ (x >> np.uint32(16))


def numbers(seed, shape, scale):
    """Numbers between -`scale` and `scale`, which fit in 24 bits, so that every library computes the same ones."""
    unit = (mix(seed, int(np.prod(shape))) >> np.uint32(8)).astype(np.float32) / np.float32(1 << 23) - np.float32(1)
    return (unit * np.float32(scale)).reshape(shape)


def integers(seed, count, below):
    """Integers from 0 to `below`, exclusive."""
    return (mix(seed, count) % np.uint32(below)).astype(np.int64)


def parameters(shapes):
    """The parameters of a model by their names. Those of a norm's scale and variance are near 1, all others near 0."""
    found = {}
    for index, (name, shape) in enumerate(shapes.items()):
        field = name.rsplit(".", 1)[-1]
        near_one = field.startswith("scale") or field == "variance"
        found[name] = np.float32(1) + numbers(index, shape, 0.1) if near_one else numbers(index, shape, 0.08)
    return found


def norm(arrays):
    """The root of the sum of squares of all parameters."""
    return float(np.sqrt(sum(np.sum(np.asarray(array, dtype=np.float64) ** 2) for array in arrays)))


class Transformer:
    """The sizes of a transformer."""

    def __init__(self, tokens, symbols, places, width, inner, layers, heads=4):
        self.symbols, self.places, self.width, self.inner = symbols, places, width, inner
        self.layers, self.heads, self.size = layers, heads, width // heads
        block = {
            "scale1": (width,), "bias1": (width,),
            "wq": (width, width), "wk": (width, width), "wv": (width, width), "wo": (width, width),
            "scale2": (width,), "bias2": (width,),
            "w1": (width, inner), "b1": (inner,), "w2": (inner, width), "b2": (width,),
        }
        self.shapes = {
            tokens: (symbols, width), "places": (places, width),
            **{f"blocks.{name}": (layers, *shape) for name, shape in block.items()},
            "scale": (width,), "bias": (width,), "head": (width, symbols),
        }
        # The name of the table of tokens, and those of the fields of a block.
        self.tokens, self.block = tokens, list(block)


GPT = Transformer("tokens", 65, 64, 128, 512, 6)
ADDITION = Transformer("symbols", 12, 11, 64, 256, 2)
BATCHES = 16
STEPS = 800


def gpt_batch(number):
    """The texts of a batch without their last token, and without their first."""
    texts = integers(1000 + number, 8 * 65, 65).reshape(8, 65)
    return texts[:, :-1], texts[:, 1:]


def addition_batch(number):
    """Texts such as `123+456=975`, without the last symbol, and the answers, whose digits are in reverse order."""
    a, b = integers(3000 + number, 256, 1000), integers(4000 + number, 256, 1000)
    digits = lambda n, powers: [n // 10**power % 10 for power in powers]
    sign = lambda symbol: [np.full(256, symbol)]
    answer = digits(a + b, range(4))
    x = digits(a, [2, 1, 0]) + sign(10) + digits(b, [2, 1, 0]) + sign(11) + answer[:3]
    return np.stack(x, 1), np.stack(answer, 1)


def vae_batch(number):
    """64 pictures of 64 pixels with 17 levels of ink, and noise from a uniform distribution of variance 1."""
    pictures = integers(5000 + number, 64 * 64, 17).astype(np.float32) / np.float32(16)
    return pictures.reshape(64, 64), numbers(6000 + number, (64, 8), 3**0.5)


def lenet_batch(number):
    """64 pictures of 64 pixels with 17 levels of ink, and their labels."""
    pictures = integers(5000 + number, 64 * 64, 17).astype(np.float32) / np.float32(16)
    return pictures.reshape(64, 64), integers(7000 + number, 64, 10)


# Filters are `[height, width, in, out]`.
LENET = {
    "f1": (3, 3, 1, 16), "scale1": (16,), "bias1": (16,), "f2": (3, 3, 16, 32), "scale2": (32,), "bias2": (32,),
    "w1": (512, 128), "b1": (128,), "w2": (128, 10), "b2": (10,),
}


def resnet_batch(number):
    """16 pictures of 32×32 pixels and 3 channels, and their labels."""
    return numbers(8000 + number, (16, 32, 32, 3), 1.0), integers(9000 + number, 16, 10)


def resnet_picture():
    """A picture of 32×32 pixels and 3 channels."""
    return numbers(8000, (1, 32, 32, 3), 1.0)


def resnet(norm):
    """The shapes of the parameters of the residual network. `norm`: those of a norm, from its prefix and number."""

    def block(name, inner, outer, is_wider):
        shapes = {f"{name}.f1": (3, 3, inner, outer), **norm(f"{name}.", 1, outer)}
        shapes |= {f"{name}.f2": (3, 3, outer, outer), **norm(f"{name}.", 2, outer)}
        return shapes | ({f"{name}.f3": (1, 1, inner, outer), **norm(f"{name}.", 3, outer)} if is_wider else {})

    return {
        "f": (3, 3, 3, 16), **norm("", "", 16),
        **block("first", 16, 16, False), **block("second", 16, 32, True), **block("third", 32, 64, True),
        "w": (64, 10), "b": (10,),
    }


# With the moments of each batch, and with given moments.
RESNET = resnet(lambda prefix, number, size: {f"{prefix}{part}{number}": (size,) for part in ("scale", "bias")})
RESNET_ONE = resnet(
    lambda prefix, number, size: {
        f"{prefix}norm{number}.{part}": (size,) for part in ("scale", "bias", "center", "variance")
    }
)
KERNEL = [0.0, -1.0, -1.0]


def points():
    """The points of the Gaussian process and their values, in `f64`."""
    x = numbers(2000, (300,), 1.0).astype(np.float64)
    return x, np.sin(5 * x) + 0.2 * numbers(2001, (300,), 1.0)


VAE = {
    "read.w": (64, 256), "read.b": (256,),
    "mean.w": (256, 8), "mean.b": (8,), "spread.w": (256, 8), "spread.b": (8,),
    "draw.w": (8, 256), "draw.b": (256,), "ink.w": (256, 64), "ink.b": (64,),
}
LSTM = {"w": (64, 512), "u": (128, 512), "b": (512,)}
GRU = {"w": (64, 384), "u": (128, 384), "b": (384,), "d": (384,)}


def series():
    """The inputs of the cells and the states that they learn."""
    return numbers(2000, (128, 32, 64), 1.0), numbers(2001, (128, 32, 128), 0.5)


ADAM = {"w1": (1499, 499), "b1": (499,), "w2": (499, 503), "b2": (503,)}
LINE = {"w": (64,), "b": ()}


def examples():
    """The features and labels of logistic regression."""
    return numbers(2000, (1000, 64), 1.0), integers(2001, 1000, 2).astype(np.float32)
