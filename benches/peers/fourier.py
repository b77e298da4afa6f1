#!/usr/bin/env python3
"""The rows of `cargo bench -p mind-benches --bench fourier` in NumPy, SciPy, PyTorch and JAX: microseconds per call.

    benches/peers/fourier.py             needs numpy, scipy, torch and jax, from pip

All run on one thread. A time includes waiting for the result, and the shortest of many times counts.
"""

import os

os.environ["JAX_ENABLE_X64"] = "1"
os.environ["JAX_PLATFORMS"] = "cpu"
os.environ["OMP_NUM_THREADS"] = "1"
os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"

import jax
import jax.numpy as jnp
import numpy as np
import scipy.fft
import torch

from timing import least

torch.set_num_threads(1)


transforms = {"fft": jax.jit(jnp.fft.fft), "rfft": jax.jit(jnp.fft.rfft)}
random = np.random.default_rng(1)
for count, n in (1, 2**10), (1, 2**16), (1, 2**20), (1, 1000), (1, 10007), (1000, 1024):
    for dtype, of_pairs in (np.float32, np.complex64), (np.float64, np.complex128):
        numbers = random.uniform(-1, 1, (count, n, 2)).astype(dtype)
        for name, x in ("fft", numbers.view(of_pairs)[..., 0]), ("rfft", numbers[..., 0].copy()):
            t, j = torch.from_numpy(x), jnp.asarray(x)
            calls = {
                "NumPy": lambda: getattr(np.fft, name)(x),
                "SciPy": lambda: getattr(scipy.fft, name)(x),
                "PyTorch": lambda: getattr(torch.fft, name)(t),
                "JAX": lambda: transforms[name](j).block_until_ready(),
            }
            times = [f"{library} {least(call):10.2f}" for library, call in calls.items()]
            row = f"{name} {'f32' if dtype == np.float32 else 'f64'}, {count} x {n}"
            print(f"{row:25} {'  '.join(times)}", flush=True)
