#!/usr/bin/env python3
"""The rows of `cargo bench -p mind-benches --bench einsum` in PyTorch, JAX and opt_einsum, beside its times.

    benches/peers/einsum.py [--rounds N] [NAME …]    needs torch, jax, numpy and opt_einsum, from pip

The rows are read from ../einsum.rs. Each library runs on one thread of the processor that this script runs on: start it
with `taskset -c 0`. JAX is compiled by `jax.jit`. opt_einsum computes with NumPy in the order that it finds. A time
includes waiting for the result, and results of PyTorch are contiguous. The shortest of many times counts. The last
column is the fastest other time divided by ours.
"""

import argparse
import math
import os
import pathlib
import re
import subprocess
import time

os.environ["JAX_PLATFORMS"] = "cpu"
for threads in ["OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "MIND_NUM_THREADS"]:
    os.environ[threads] = "1"
os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"

import jax
import jax.numpy as jnp
import numpy as np
import opt_einsum
import torch

torch.set_num_threads(1)
HERE = pathlib.Path(__file__).resolve().parent
ROW = re.compile(r'^    (\w+): "([^"]+)", (.*) => ', re.M)


def least(call):
    call()
    start = time.perf_counter()
    call()
    calls = max(1, int(5e-4 / (time.perf_counter() - start)))
    best = math.inf
    for _ in range(40):
        call()
        start = time.perf_counter()
        for _ in range(calls):
            call()
        best = min(best, (time.perf_counter() - start) / calls)
    return best * 1e6


def rows():
    for name, text, operands in ROW.findall((HERE.parent / "einsum.rs").read_text()):
        shapes = [tuple(map(int, extents.split(","))) for extents in re.findall(r"\[([^\]]*)\]", operands)]
        yield name, text, shapes


def ours(words):
    command = ["cargo", "bench", "-q", "-p", "mind-benches", "--bench", "einsum", "--", *words]
    said = subprocess.run(command, check=True, capture_output=True, text=True, cwd=HERE.parent.parent).stdout
    return {line.split()[0]: float(line.split()[1]) for line in said.splitlines() if line.endswith("µs")}


def others(text, shapes):
    arrays = [np.random.default_rng(7).uniform(0, 1, shape).astype(np.float32) for shape in shapes]
    on_jax, on_torch = [jnp.array(array) for array in arrays], [torch.from_numpy(array) for array in arrays]
    compiled = jax.jit(lambda *operands: jnp.einsum(text, *operands))
    expression = opt_einsum.contract_expression(text, *shapes, optimize="optimal")
    return {
        "PyTorch": lambda: torch.einsum(text, *on_torch).contiguous(),
        "JAX": lambda: compiled(*on_jax).block_until_ready(),
        "opt_einsum": lambda: np.ascontiguousarray(expression(*arrays)),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("words", nargs="*")
    parser.add_argument("--rounds", type=int, default=1)
    options = parser.parse_args()
    chosen = [row for row in rows() if not options.words or any(word in row[0] for word in options.words)]
    best = {}
    for _ in range(options.rounds):
        for name, found in ours(options.words).items():
            best[name, "ours"] = min(found, best.get((name, "ours"), math.inf))
        for name, text, shapes in chosen:
            for library, call in others(text, shapes).items():
                best[name, library] = min(least(call), best.get((name, library), math.inf))
    libraries = ["ours", "PyTorch", "JAX", "opt_einsum"]
    print(f"load {os.getloadavg()[0]:.1f}; µs\n{'':24}" + "".join(f"{name:>11}" for name in libraries) + "    ratio")
    ratios = []
    for name, _, _ in chosen:
        times = [best[name, library] for library in libraries]
        ratios.append(min(times[1:]) / times[0])
        print(f"{name:24}" + "".join(f"{each:11.2f}" for each in times) + f"{ratios[-1]:9.2f}")
    print(f"geometric mean {math.exp(sum(map(math.log, ratios)) / len(ratios)):.2f}, least {min(ratios):.2f}")


if __name__ == "__main__":
    main()
