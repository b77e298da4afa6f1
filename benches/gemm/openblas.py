"""Times the same products by the OpenBLAS that NumPy ships, in microseconds.

    taskset -c 0 python benches/gemm/openblas.py [512x512x512 32x784x256nt ...]

Without sizes it measures cubes and the shapes of the layers. Run it between two runs of the bench, because the speed of
the machine changes.
"""

import os
import sys
import time

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # NumPy reads it when it is loaded

import numpy as np

SIZES = [f"{n}x{n}x{n}" for n in (1, 2, 3, 4, 7, 8, 16, 31, 32, 64, 100, 128, 255, 256, 512, 1000, 1024)]
SIZES += ["32x784x256", "128x784x512", "1x1024x1024", "1024x1024x1", "1024x16x1024", "16x1024x16", "10x256x32"]
SIZES += ["784x32x256tn", "32x256x784nt", "512x512x512tn", "512x512x512nt", "1024x1024x1024tn", "1024x1024x1024nt"]
SECONDS = 0.3


def least(multiply):
    """The shortest time of a call, as the mean over a batch that is long enough for the clock."""
    multiply()
    rounds, start = 1, time.perf_counter()
    multiply()
    rounds = max(1, int(100e-6 / max(time.perf_counter() - start, 1e-7)))
    best, end = float("inf"), time.perf_counter() + SECONDS
    while time.perf_counter() < end:
        start = time.perf_counter()
        for _ in range(rounds):
            multiply()
        best = min(best, (time.perf_counter() - start) / rounds)
    return best


def main():
    for dtype in (np.float32, np.float64):
        for size in sys.argv[1:] or SIZES:
            extents = size.rstrip("nt")
            layout = size[len(extents) :] or "nn"
            m, k, n = map(int, extents.split("x"))
            random = np.random.default_rng(1)
            x = random.random((k, m) if layout[0] == "t" else (m, k)).astype(dtype)
            w = random.random((n, k) if layout[1] == "t" else (k, n)).astype(dtype)
            x, w = (x.T if layout[0] == "t" else x), (w.T if layout[1] == "t" else w)
            out = np.empty((m, n), dtype)
            seconds = least(lambda: np.matmul(x, w, out=out))
            name = f"{np.dtype(dtype).name} {extents} {layout}"
            print(f"{name:28} {seconds * 1e6:12.3f} µs {2 * m * k * n / seconds * 1e-9:8.1f} GFLOP/s")


main()
