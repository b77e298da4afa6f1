#!/usr/bin/env python3
"""The rows of `cargo bench -p mind-benches --bench random` in JAX and PyTorch, on one core.

It prints nanoseconds per element.

    benches/peers/draws.py     needs torch and jax, from pip

JAX's generator is Threefry, the default, whose numbers are those of the project. PyTorch fills an existing tensor. The
shortest of many times counts.
"""

import os
import time

# This runs before the libraries start threads, which are useless on one core.
os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
os.environ["XLA_FLAGS"] = os.environ.get("XLA_FLAGS", "") + " --xla_cpu_multi_thread_eigen=false"
os.environ["JAX_PLATFORMS"] = "cpu"

import jax
import torch

jax.config.update("jax_enable_x64", True)
torch.set_num_threads(1)

ROWS = {
    "uniform f32": ("uniform", "float32", lambda out: out.uniform_()),
    "uniform f64": ("uniform", "float64", lambda out: out.uniform_()),
    "normal f32": ("normal", "float32", lambda out: out.normal_()),
    "normal f64": ("normal", "float64", lambda out: out.normal_()),
    "exponential f32": ("exponential", "float32", lambda out: out.exponential_()),
}


def least(call):
    call()
    best = float("inf")
    for _ in range(60):
        start = time.perf_counter()
        call()
        best = min(best, time.perf_counter() - start)
    return best


def main():
    count, key = 1_000_000, jax.random.key(1)
    print("ns an element of 1 M")
    print("| | JAX | PyTorch |")
    print("| --- | --- | --- |")
    for name, (of_jax, dtype, of_torch) in ROWS.items():
        drawn = jax.jit(lambda key, of_jax=of_jax, dtype=dtype: getattr(jax.random, of_jax)(key, (count,), dtype))
        out = torch.empty(count, dtype=getattr(torch, dtype))
        times = [least(lambda: drawn(key).block_until_ready()), least(lambda: of_torch(out))]
        print(f"| {name} | " + " | ".join(f"{t * 1e9 / count:.3f}" for t in times) + " |")


main()
