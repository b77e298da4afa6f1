#!/usr/bin/env python3
"""The rows of `cargo bench -p mind-benches --bench sorts` in NumPy, PyTorch and JAX: nanoseconds per element.

    benches/peers/sorts.py               needs numpy, torch and jax, from pip

All run on one thread. `argsort` is the stable one of each library, as that of the project is; `top_k` is
`np.argpartition`, `torch.topk` and `jax.lax.top_k` of 8 elements. A time includes waiting for the result, and the
shortest of several times counts.
"""

import os
import time

os.environ["JAX_PLATFORMS"] = "cpu"
os.environ["OMP_NUM_THREADS"] = "1"
os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"

import jax
import jax.numpy as jnp
import numpy as np
import torch

torch.set_num_threads(1)
COUNT = 1_000_000


def least(call):
    call()
    best = float("inf")
    for _ in range(5):
        start = time.perf_counter()
        call()
        best = min(best, time.perf_counter() - start)
    return best / COUNT * 1e9


sort, argsort, top_k = (jax.jit(f) for f in (jnp.sort, jnp.argsort, lambda x: jax.lax.top_k(x, 8)))
random = np.random.default_rng(1)
for line in (10, 1000, COUNT):
    shape = (COUNT // line, line)
    integers = random.integers(-(2**31), 2**31, shape).astype(np.int32)
    for name, x in ("f32", (integers * 1e-9).astype(np.float32)), ("i32", integers):
        t, j = torch.tensor(x), jnp.asarray(x)
        rows = {
            "sort": (lambda: np.sort(x), lambda: torch.sort(t), lambda: sort(j).block_until_ready()),
            "argsort": (
                lambda: np.argsort(x, kind="stable"),
                lambda: torch.argsort(t, stable=True),
                lambda: argsort(j).block_until_ready(),
            ),
            "top_k": (lambda: np.argpartition(x, -8), lambda: torch.topk(t, 8), lambda: top_k(j)[0].block_until_ready()),
        }
        for what, calls in rows.items():
            times = [f"{library} {least(call):8.2f}" for library, call in zip(("NumPy", "PyTorch", "JAX"), calls)]
            print(f"{what} {name}, lines of {line:<10} {'  '.join(times)}", flush=True)
