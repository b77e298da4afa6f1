#!/usr/bin/env python3
"""The rows of `cargo bench -p mind-benches --bench composites` in PyTorch, torch.compile and JAX.

It prints microseconds per call.

    benches/peers/composites.py [NAME …]    needs torch, jax and numpy, from pip, and a C++ compiler

The shapes are those of ../composites.rs. All use as many threads as the machine has processors, as functions of the
project do. A time includes waiting for the result. The shortest of many times counts.
"""

import os
import sys

os.environ["JAX_PLATFORMS"] = "cpu"

import jax
import jax.numpy as jnp
import numpy as np
import torch
import torch.nn.functional as F

from timing import least

torch.set_num_threads(len(os.sched_getaffinity(0)))


def numbers(*shape):
    return np.random.default_rng(7).uniform(-1, 1, shape).astype(np.float32)


def layer_norm(x, scale, bias):
    mean = x.mean(-1, keepdims=True)
    return (x - mean) / jnp.sqrt(((x - mean) ** 2).mean(-1, keepdims=True) + 1e-5) * scale + bias


def rms_norm(x, scale):
    return x / jnp.sqrt((x * x).mean(-1, keepdims=True) + 1e-6) * scale


def cross_entropy(x, y):
    return -jnp.take_along_axis(jax.nn.log_softmax(x), y[:, None], 1).mean()


def adam(w, g, m, v, t, of):
    m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g * g
    return w - 0.001 / (1 - 0.9**t) * m / (of.sqrt(v / (1 - 0.999**t)) + 1e-8), m, v


def attention(q, k, v, see=None):
    scores = q @ k.swapaxes(-1, -2) / 8.0
    return jax.nn.softmax(scores if see is None else jnp.where(see, scores, -jnp.inf)) @ v


def composites():
    x, scale, bias = numbers(1024, 1024) * 4, numbers(1024), numbers(1024)
    y = np.arange(1024) * 37 % 1024
    yield "softmax", lambda x: torch.softmax(x, -1), jax.nn.softmax, [x]
    yield "log_softmax", lambda x: torch.log_softmax(x, -1), jax.nn.log_softmax, [x]
    yield "layer_norm", lambda x, s, b: F.layer_norm(x, (1024,), s, b), layer_norm, [x, scale, bias]
    yield "rms_norm", lambda x, s: F.rms_norm(x, (1024,), s, 1e-6), rms_norm, [x, scale]
    yield "gelu", F.gelu, lambda x: jax.nn.gelu(x, approximate=False), [x]
    yield "cross_entropy", F.cross_entropy, cross_entropy, [x, y]
    yield (
        "adam",
        lambda w, g, m, v: adam(w, g, m, v, 3.0, torch),
        lambda w, g, m, v: adam(w, g, m, v, 3.0, jnp),
        [x, x, x, x * x],
    )
    for places in (64, 256, 512, 1024):
        heads = [numbers(1, 8, places, 64) for _ in range(4)]
        see = np.tril(np.ones((places, places), bool))
        yield f"attention, {places}", F.scaled_dot_product_attention, attention, heads[:3]
        yield (
            f"causal attention, {places}",
            lambda q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=True),
            lambda q, k, v, see=see: attention(q, k, v, see),
            heads[:3],
        )
        yield f"attention and gradient, {places}", None, None, heads


def of_gradient(heads):
    """A loss of attention and its gradient, by PyTorch, torch.compile and JAX."""
    q, k, v, dy = [torch.from_numpy(head) for head in heads]
    leaves = [head.requires_grad_() for head in (q, k, v)]

    def loss(q, k, v, dy):
        return (torch.tanh(F.scaled_dot_product_attention(q, k, v)) * dy).sum()

    compiled = torch.compile(loss, dynamic=False)
    gradient = jax.jit(
        jax.value_and_grad(lambda q, k, v, dy: (jnp.tanh(attention(q, k, v)) * dy).sum(), (0, 1, 2))
    )
    arrays = [jnp.asarray(head) for head in heads]
    return (
        lambda: torch.autograd.grad(loss(q, k, v, dy), leaves),
        lambda: torch.autograd.grad(compiled(q, k, v, dy), leaves),
        lambda: jax.block_until_ready(gradient(*arrays)),
    )


def main():
    wanted = sys.argv[1:]
    print("| composite | PyTorch | torch.compile | JAX |")
    print("| --- | --- | --- | --- |")
    for name, of_torch, of_jax, operands in composites():
        if wanted and not any(word in name for word in wanted):
            continue
        torch.compiler.reset()
        if of_torch is None:
            cells = [least(call) for call in of_gradient(operands)]
        else:
            tensors = [torch.from_numpy(operand) for operand in operands]
            arrays, compiled = [jnp.asarray(operand) for operand in operands], jax.jit(of_jax)
            inductor = torch.compile(lambda *all: of_torch(*all), dynamic=False)
            with torch.inference_mode():
                cells = [
                    least(lambda: of_torch(*tensors)),
                    least(lambda: inductor(*tensors)),
                    least(lambda: jax.block_until_ready(compiled(*arrays))),
                ]
        print(f"| {name} | {' | '.join(f'{cell:.0f}' for cell in cells)} |", flush=True)


main()
