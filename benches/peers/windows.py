#!/usr/bin/env python3
"""The rows of `cargo bench -p mind-benches --bench windows` in PyTorch, on one thread.

It prints milliseconds per call, the shortest of many, with channels last in memory.

    benches/peers/windows.py [WORD …]    needs torch, from pip
"""

import sys
import time

import torch
import torch.nn.functional as F

torch.set_num_threads(1)
WORDS = sys.argv[1:]
LAYERS = [(112, 32), (56, 128), (28, 256), (14, 512), (7, 1024)]


def least(call):
    call()
    start, best = time.perf_counter(), float("inf")
    while time.perf_counter() - start < 0.4:
        begin = time.perf_counter()
        call()
        best = min(best, time.perf_counter() - begin)
    return best * 1e3


def row(name, *calls):
    if not WORDS or any(word in name for word in WORDS):
        print(f"| {name} | {' | '.join(f'{least(call):.3f}' for call in calls)} |", flush=True)


def numbers(*shape):
    return torch.randn(*shape).contiguous(memory_format=torch.channels_last)


def depthwise(extent, channels, stride):
    x, f = numbers(1, channels, extent, extent), numbers(channels, 1, 3, 3)

    def forward():
        return F.conv2d(x, f, stride=stride, padding=1, groups=channels)

    dy = torch.randn_like(forward())

    def backward(mask):
        of = ([stride] * 2, [1, 1], [1, 1], False, [0, 0], channels, mask)
        return lambda: torch.ops.aten.convolution_backward(dy, x, f, None, *of)

    name = f"depthwise {extent}×{extent}×{channels}, stride {stride}"
    row(name, forward, backward([True, False, False]), backward([False, True, False]))


def pool(size, pad, images, extent):
    x = numbers(images, 64, extent, extent)
    y, places = F.max_pool2d(x, size, 2, pad, return_indices=True)
    dy = torch.randn_like(y)
    of = ([size] * 2, [2, 2], [pad] * 2)
    row(
        f"pool {size}×{size} of {images}×{extent}×{extent}×64, stride 2",
        lambda: F.max_pool2d(x, size, 2, pad),
        lambda: torch.ops.aten.max_pool2d_with_indices_backward(dy, x, *of, [1, 1], False, places),
        lambda: F.avg_pool2d(x, size, 2, pad),
        lambda: torch.ops.aten.avg_pool2d_backward(dy, x, *of, False, True, None),
    )


with torch.no_grad():
    for extent, channels in LAYERS:
        for stride in (1, 2):
            depthwise(extent, channels, stride)
    for size, pad in ((2, 0), (3, 1)):
        for images, extent in ((1, 112), (8, 56)):
            pool(size, pad, images, extent)
