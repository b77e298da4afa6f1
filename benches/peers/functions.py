#!/usr/bin/env python3
"""The rows of `cargo bench -p mind-benches --bench functions` in PyTorch, torch.compile and JAX, on one core.

It prints nanoseconds per element.

    benches/peers/functions.py [NAME …]     needs torch, jax and numpy, from pip, and a C++ compiler

The operands are those of ../functions.rs. PyTorch writes to an existing tensor, as functions of the project do.
Compiled functions, including JAX's, allocate their results. A time includes waiting for the result. The shortest of
many times counts.
"""

import os
import sys
import time

# This runs before the libraries start threads, which are useless on one core.
os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
for library in ("OMP", "MKL", "OPENBLAS"):
    os.environ[library + "_NUM_THREADS"] = "1"
os.environ["XLA_FLAGS"] = os.environ.get("XLA_FLAGS", "") + " --xla_cpu_multi_thread_eigen=false"
os.environ["JAX_PLATFORMS"] = "cpu"

import jax
import jax.numpy as jnp
import numpy as np
import torch

jax.config.update("jax_enable_x64", True)
torch.set_num_threads(1)

ROWS = {
    "exp": (torch.exp, jnp.exp, (-10, 10)),
    "exp2": (torch.exp2, jnp.exp2, (-10, 10)),
    "sqrt": (torch.sqrt, jnp.sqrt, (0, 10)),
    "abs": (torch.abs, jnp.abs, (-10, 10)),
    "log": (torch.log, jnp.log, (0.1, 10)),
    "tanh": (torch.tanh, jnp.tanh, (-5, 5)),
    "sin": (torch.sin, jnp.sin, (-10, 10)),
    "cos": (torch.cos, jnp.cos, (-10, 10)),
    "tan": (torch.tan, jnp.tan, (-10, 10)),
    "log1p": (torch.log1p, jnp.log1p, (-0.9, 10)),
    "expm1": (torch.expm1, jnp.expm1, (-5, 5)),
    "pow": (torch.pow, jnp.power, (0.1, 10), (-5, 5)),
    "erf": (torch.erf, jax.scipy.special.erf, (-3, 3)),
    "erfc": (torch.erfc, jax.scipy.special.erfc, (-3, 3)),
    "lgamma": (torch.lgamma, jax.scipy.special.gammaln, (0.1, 20)),
    "atan2": (torch.atan2, jnp.arctan2, (-5, 5), (-5, 5)),
}


def between(count, operand, low, high):
    """The same numbers as `between` in functions.rs."""
    mixed = (np.arange(count, dtype=np.uint64) + ord(operand) * 104_729) * np.uint64(2_654_435_761)
    return low + ((mixed >> np.uint64(7)) & np.uint64(0xF_FFFF)) / 1_048_576.0 * (high - low)


def least(call):
    calls = 1
    while True:
        start = time.perf_counter()
        for _ in range(calls):
            call()
        if time.perf_counter() - start > 5e-4:
            break
        calls *= 2
    best = float("inf")
    for _ in range(60):
        start = time.perf_counter()
        for _ in range(calls):
            call()
        best = min(best, (time.perf_counter() - start) / calls)
    return best


def main():
    wanted = sys.argv[1:] or ROWS
    print("ns an element: PyTorch / torch.compile / JAX")
    print("| function | `f32`, 1,000 | 1 M | `f64`, 1,000 | 1 M |")
    print("| --- | --- | --- | --- | --- |")
    for name in wanted:
        of_torch, of_jax, *bounds = ROWS[name]
        cells = []
        for dtype in ("float32", "float64"):
            for count in (1_000, 1_000_000):
                operands = [between(count, "xy"[i], *bound).astype(dtype) for i, bound in enumerate(bounds)]
                tensors = [torch.from_numpy(operand) for operand in operands]
                out = torch.empty_like(tensors[0])
                arrays, compiled = [jnp.asarray(operand) for operand in operands], jax.jit(of_jax)
                # Without the reset, torch.compile takes the ninth function for a recompilation of the first, and stops
                # compiling.
                torch.compiler.reset()
                inductor = torch.compile(lambda *all: of_torch(*all), dynamic=False)
                calls = (
                    lambda: of_torch(*tensors, out=out),
                    lambda: inductor(*tensors),
                    lambda: compiled(*arrays).block_until_ready(),
                )
                with torch.inference_mode():
                    cells.append(" / ".join(f"{least(call) * 1e9 / count:.2f}" for call in calls))
        print(f"| `{name}` | {' | '.join(cells)} |", flush=True)


main()
