#!/usr/bin/env python3
"""Linear algebra of NumPy, SciPy and JAX, with the rows of `benches/linalg`: microseconds per call.

    benches/peers/linalg.py [WORD ...]            needs numpy, scipy and jax, from pip

All run on one thread, NumPy and SciPy with the OpenBLAS that they ship. SciPy has no batches. A time includes waiting
for the result, and the shortest of many times counts. Words select rows.
"""

import os
import sys

os.environ["JAX_ENABLE_X64"] = "1"
os.environ["JAX_PLATFORMS"] = "cpu"
os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"
os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"

import jax
import jax.numpy as jnp
import numpy as np
import scipy.linalg

from timing import least


def solve_of(library):
    return lambda a: library.linalg.solve(a, a[0, 0] if a.ndim == 3 else a[0])


FUNCTIONS = {
    "cholesky": (np.linalg.cholesky, lambda a: scipy.linalg.cholesky(a, lower=True), jnp.linalg.cholesky),
    "solve": (solve_of(np), lambda a: scipy.linalg.solve(a, a[0]), solve_of(jnp)),
    "inv": (np.linalg.inv, scipy.linalg.inv, jnp.linalg.inv),
    "det": (np.linalg.det, scipy.linalg.det, jnp.linalg.det),
    "qr": (np.linalg.qr, scipy.linalg.qr, jnp.linalg.qr),
    "eigh": (np.linalg.eigh, scipy.linalg.eigh, jnp.linalg.eigh),
    "svd": (np.linalg.svd, scipy.linalg.svd, jnp.linalg.svd),
}

random = np.random.default_rng(1)
for count, n in (1, 4), (1, 16), (1, 64), (1, 256), (1, 512), (10_000, 4), (10_000, 8), (10_000, 16):
    m = random.uniform(-1, 1, (count, n, n))
    wide = m @ m.swapaxes(-1, -2) / n + np.eye(n)
    for name, (of_numpy, of_scipy, of_jax) in FUNCTIONS.items():
        for dtype in np.float32, np.float64:
            row = f"{name} {'f32' if dtype == np.float32 else 'f64'}, {count} x {n}"
            if not all(word in row for word in sys.argv[1:]):
                continue
            a = wide.astype(dtype)
            j, compiled = jnp.asarray(a), jax.jit(of_jax)
            calls = {"NumPy": lambda: of_numpy(a), "JAX": lambda: jax.block_until_ready(compiled(j))}
            if count == 1:
                calls["SciPy"] = lambda: of_scipy(a[0])
            times = [f"{library} {least(call):10.2f}" for library, call in calls.items()]
            print(f"{row:25} {'  '.join(times)}", flush=True)
