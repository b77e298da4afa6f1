#!/usr/bin/env python3
"""Measures a step of PyTorch's DistributedDataParallel (gloo) on the network of scaling.rs, one thread per rank.

    scaling.py RANKS
"""
import statistics
import sys
import time

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch.nn.parallel import DistributedDataParallel

ROWS, REPETITIONS = 128, 200


def main(rank, ranks, address):
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"file://{address}", rank=rank, world_size=ranks)
    torch.manual_seed(1)
    net = torch.nn.Sequential(
        torch.nn.Linear(784, 256), torch.nn.ReLU(), torch.nn.Linear(256, 256), torch.nn.ReLU(),
        torch.nn.Linear(256, 10),
    )
    model = DistributedDataParallel(net)
    rows = ROWS // ranks
    x, y = torch.randn(rows, 784), torch.randint(10, (rows,))

    def step(model):
        model.zero_grad()
        torch.nn.functional.cross_entropy(model(x), y).backward()

    def of_size(size):
        return lambda: dist.all_reduce(torch.ones(size))

    programs = [("gradient", lambda: step(net)), ("step", lambda: step(model))]
    programs += [(f"all-reduce of {4 * size} bytes", of_size(size)) for size in [1 << 16, 1 << 18]]
    times = {name: [] for name, _ in programs}
    for _ in range(REPETITIONS):
        for name, program in programs:
            dist.barrier()
            start = time.perf_counter()
            program()
            times[name].append(1e3 * (time.perf_counter() - start))
    if rank == 0:
        for name, taken in times.items():
            least, median = min(taken), statistics.median(taken)
            print(f"{ranks} ranks: {name} of {rows} rows: least {least:.3f} ms, median {median:.3f} ms")
    dist.destroy_process_group()


if __name__ == "__main__":
    import os
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        ranks = int(sys.argv[1])
        mp.spawn(main, args=(ranks, os.path.join(folder, "store")), nprocs=ranks)
