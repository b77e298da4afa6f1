#!/usr/bin/env python3
"""The rows of `cargo bench -p mind-benches --bench recurrence` in PyTorch and JAX: microseconds per call.

    benches/peers/recurrence.py    needs torch, jax and numpy, from pip

The shapes are those of ../recurrence.rs. PyTorch's row is its fused `nn.GRU`, JAX's is `lax.scan` in `jit`. Both use as
many threads as the machine has processors, as functions of the project do. Each call is waited for. The result is the
shortest of many times. Before they are timed, the two must agree on the last state.
"""

import os
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


def main():
    print("| recurrence | PyTorch | JAX |\n| --- | --- | --- |")
    for batch in (1, 32):
        h, xs = numbers(batch, 128, scale=0.5), numbers(128, batch, 64, scale=0.5)
        w, u, b = numbers(64, 384, scale=0.1), numbers(128, 384, scale=0.1), numbers(384, scale=0.1)
        cell = torch.nn.GRU(64, 128)
        with torch.no_grad():
            cell.weight_ih_l0.copy_(torch.from_numpy(w.T.copy()))
            cell.weight_hh_l0.copy_(torch.from_numpy(u.T.copy()))
            cell.bias_ih_l0.copy_(torch.from_numpy(b))
            cell.bias_hh_l0.zero_()
        steps, first = torch.from_numpy(xs), torch.from_numpy(h)[None]
        operands = [jnp.asarray(operand) for operand in (h, xs, w, u, b)]
        forward = jax.jit(gru)
        gradient = jax.jit(jax.grad(lambda *all: (gru(*all) ** 2).sum(), argnums=(2, 3, 4)))
        np.testing.assert_allclose(forward(*operands), cell(steps, first)[0].detach(), atol=1e-5)

        def of_torch():
            return torch.autograd.grad((cell(steps, first)[0] ** 2).sum(), list(cell.parameters()))

        with torch.inference_mode():
            in_torch = least(lambda: cell(steps, first))
        in_jax = least(lambda: jax.block_until_ready(forward(*operands)))
        print(f"| GRU, batch {batch} | {in_torch:.0f} | {in_jax:.0f} |", flush=True)
        in_torch, in_jax = least(of_torch), least(lambda: jax.block_until_ready(gradient(*operands)))
        print(f"| GRU, batch {batch}, gradient | {in_torch:.0f} | {in_jax:.0f} |", flush=True)


main()
