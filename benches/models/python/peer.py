#!/usr/bin/env python3
"""Runs a model in PyTorch or JAX for the driver `run`: peer.py torch|torch.compile|jax MODEL

../shared/serve.rs describes the protocol. OMP_NUM_THREADS is the number of threads.
"""

import importlib
import math
import sys
import time

CHECKED, BATCH = 4, 0.005


def least(model, limit):
    """The seconds per step of the fastest batch."""
    start, calls, best = time.perf_counter(), 1, math.inf
    while True:
        began = time.perf_counter()
        for _ in range(calls):
            value = model.call()
        model.wait(value)
        elapsed = time.perf_counter() - began
        if elapsed >= BATCH or calls > 1:
            best = min(best, elapsed / (calls * model.steps))
        else:
            calls = math.ceil(BATCH / elapsed) + 1
        if time.perf_counter() - start >= limit and best < math.inf:
            return best


def main():
    library, name = sys.argv[1:]
    module = importlib.import_module("in_jax" if library == "jax" else "in_torch")
    model = module.MODELS[name]() if library == "jax" else module.MODELS[name](library == "torch.compile")
    values = [float(model.call())]
    print("started", flush=True)
    values += [float(model.call()) for _ in range(CHECKED - 1)]
    print(*values, *model.values(), flush=True)
    for line in sys.stdin:
        print(least(model, float(line)), flush=True)


main()
