#!/usr/bin/env python3
"""The rows of `cargo bench -p mind-benches --bench recurrence` in PyTorch and JAX: microseconds per call.

    benches/peers/recurrence.py               needs torch, jax and numpy, from pip
    benches/peers/recurrence.py --compile     also torch.compile, which unrolls the steps and takes minutes

The shapes are those of ../recurrence.rs. PyTorch's rows are its fused `nn.LSTM` and `nn.GRU`, JAX's are `lax.scan` in
`jit`. All use as many threads as the machine has processors, as functions of the project do. A time includes waiting
for the result. The shortest of many times counts. Before the rows are timed, they must agree on all states.
"""

import os
import sys
import time

os.environ["JAX_PLATFORMS"] = "cpu"

import jax
import jax.numpy as jnp
import numpy as np
import torch

torch.set_num_threads(len(os.sched_getaffinity(0)))


def least(call):
    for _ in range(3):
        call()
    best = float("inf")
    for _ in range(100):
        start = time.perf_counter()
        call()
        best = min(best, time.perf_counter() - start)
    return best * 1e6


def numbers(*shape, scale):
    return np.random.default_rng(7).uniform(-scale, scale, shape).astype(np.float32)


def gru(h, xs, w, u, b):
    def step(h, x):
        x, y = x @ w + b, h @ u
        r = jax.nn.sigmoid(x[:, :128] + y[:, :128])
        z = jax.nn.sigmoid(x[:, 128:256] + y[:, 128:256])
        n = jnp.tanh(x[:, 256:] + r * y[:, 256:])
        h = (1 - z) * n + z * h
        return h, h

    return jax.lax.scan(step, h, xs)[1]


def lstm(h, c, xs, w, u, b):
    def step(state, x):
        h, c = state
        i, f, g, o = jnp.split(x @ w + h @ u + b, 4, axis=1)
        c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
        h = jax.nn.sigmoid(o) * jnp.tanh(c)
        return (h, c), h

    return jax.lax.scan(step, (h, c), xs)[1]


class Steps(torch.nn.Module):
    """The cell of PyTorch in a loop, which torch.compile unrolls."""

    def __init__(self, layer):
        super().__init__()
        self.layer = layer

    def forward(self, xs, h, c):
        layer, hs = self.layer, []
        fixed = xs @ layer.weight_ih_l0.T + layer.bias_ih_l0
        for x in fixed:
            y = h @ layer.weight_hh_l0.T
            if c is None:
                (xr, xz, xn), (yr, yz, yn) = x.chunk(3, 1), y.chunk(3, 1)
                r, z = torch.sigmoid(xr + yr), torch.sigmoid(xz + yz)
                h = (1 - z) * torch.tanh(xn + r * yn) + z * h
            else:
                i, f, g, o = (x + y).chunk(4, 1)
                c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
                h = torch.sigmoid(o) * torch.tanh(c)
            hs.append(h)
        return torch.stack(hs)


def rows(name, batch, layer, recurrence, operands, compiled):
    """Prints the rows of one recurrence, forward and with the gradient of its weights."""
    h, *rest = operands
    c, (xs, w, u, b) = (rest[0], rest[1:]) if name == "LSTM" else (None, rest)
    with torch.no_grad():
        layer.weight_ih_l0.copy_(torch.from_numpy(w.T.copy()))
        layer.weight_hh_l0.copy_(torch.from_numpy(u.T.copy()))
        layer.bias_ih_l0.copy_(torch.from_numpy(b))
        layer.bias_hh_l0.zero_()
    steps, first = torch.from_numpy(xs), torch.from_numpy(h)
    cell = None if c is None else torch.from_numpy(c)
    start = first[None] if c is None else (first[None], cell[None])
    given = [jnp.asarray(operand) for operand in operands]
    weights = tuple(range(len(given) - 3, len(given)))
    forward = jax.jit(recurrence)
    gradient = jax.jit(jax.grad(lambda *all: (recurrence(*all) ** 2).sum(), argnums=weights))
    np.testing.assert_allclose(forward(*given), layer(steps, start)[0].detach(), atol=1e-5)
    parameters = list(layer.parameters())

    def slopes(states):
        return torch.autograd.grad((states ** 2).sum(), parameters, allow_unused=True)

    with torch.inference_mode():
        in_torch = least(lambda: layer(steps, start))
    in_jax = least(lambda: jax.block_until_ready(forward(*given)))
    of_torch = least(lambda: slopes(layer(steps, start)[0]))
    of_jax = least(lambda: jax.block_until_ready(gradient(*given)))
    in_compiled = of_compiled = "—"
    if compiled:
        loop = torch.compile(Steps(layer))
        np.testing.assert_allclose(loop(steps, first, cell).detach(), layer(steps, start)[0].detach(), atol=1e-5)
        with torch.inference_mode():
            in_compiled = f"{least(lambda: loop(steps, first, cell)):.0f}"
        of_compiled = f"{least(lambda: slopes(loop(steps, first, cell))):.0f}"
    print(f"| {name}, batch {batch} | {in_torch:.0f} | {in_compiled} | {in_jax:.0f} |", flush=True)
    print(f"| {name}, batch {batch}, gradient | {of_torch:.0f} | {of_compiled} | {of_jax:.0f} |", flush=True)


def main():
    compiled = "--compile" in sys.argv
    print("| recurrence | PyTorch | torch.compile | JAX |\n| --- | --- | --- | --- |")
    for batch in (1, 32):
        h, c = numbers(batch, 128, scale=0.5), numbers(batch, 128, scale=0.25)
        xs = numbers(128, batch, 64, scale=0.5)
        w, u, b = numbers(64, 512, scale=0.1), numbers(128, 512, scale=0.1), numbers(512, scale=0.1)
        rows("LSTM", batch, torch.nn.LSTM(64, 128), lstm, [h, c, xs, w, u, b], compiled)
        w, u, b = numbers(64, 384, scale=0.1), numbers(128, 384, scale=0.1), numbers(384, scale=0.1)
        rows("GRU", batch, torch.nn.GRU(64, 128), gru, [h, xs, w, u, b], compiled)


main()
