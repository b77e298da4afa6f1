#!/usr/bin/env python3
"""The rows of `cargo bench -p mind-benches --bench windows` in PyTorch, and those of convolutions in JAX too.

It prints milliseconds per call, the shortest of many: PyTorch, with channels last in memory, then JAX after a slash.
The environment variable `THREADS` sets the number of threads, 1 or all, which is 1 otherwise.

    benches/peers/windows.py [WORD …]    needs torch and jax, from pip
"""

import os
import sys
import time

THREADS = int(os.environ.get("THREADS", "1"))
if THREADS == 1:
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
os.environ["JAX_PLATFORMS"] = "cpu"

import jax
import torch
import torch.nn.functional as F

torch.set_num_threads(THREADS)
WORDS = sys.argv[1:]
LAYERS = [(112, 32), (56, 128), (28, 256), (14, 512), (7, 1024)]
CONVOLUTIONS = [
    ((224, 224, 3), (7, 7, 64), (2, 2), 3),
    ((56, 56, 64), (1, 1, 256), (1, 1), 0),
    ((56, 56, 64), (3, 3, 64), (1, 1), 1),
    ((28, 28, 128), (3, 3, 128), (1, 1), 1),
    ((28, 28, 512), (1, 1, 128), (1, 1), 0),
    ((14, 14, 256), (3, 3, 256), (1, 1), 1),
    ((14, 14, 1024), (1, 1, 256), (1, 1), 0),
    ((7, 7, 512), (3, 3, 512), (1, 1), 1),
    ((7, 7, 512), (1, 1, 2048), (1, 1), 0),
    ((1, 4000, 1), (1, 10, 512), (1, 5), 0),
    ((1, 799, 512), (1, 3, 512), (1, 2), 0),
    ((1, 99, 512), (1, 2, 512), (1, 2), 0),
]


def least(call):
    call()
    start, best = time.perf_counter(), float("inf")
    while time.perf_counter() - start < 0.4:
        begin = time.perf_counter()
        call()
        best = min(best, time.perf_counter() - begin)
    return best * 1e3


def timed(calls):
    return "/".join(f"{least(call):.3f}" for call in (calls if isinstance(calls, tuple) else (calls,)))


def row(name, *calls):
    if not WORDS or any(word in name for word in WORDS):
        print(f"| {name} | {' | '.join(timed(call) for call in calls)} |", flush=True)


def numbers(*shape):
    return torch.randn(*shape).contiguous(memory_format=torch.channels_last)


def backward(dy, x, f, stride, pad, groups, mask):
    of = (stride, pad, [1, 1], False, [0, 0], groups, mask)
    return lambda: torch.ops.aten.convolution_backward(dy, x, f, None, *of)


def convolution(image, filter, stride, pad):
    (h, w, c), (kh, kw, features) = image, filter
    x, f = numbers(1, c, h, w), numbers(features, c, kh, kw)

    def forward():
        return F.conv2d(x, f, stride=stride, padding=pad)

    dy = torch.randn_like(forward())
    masks = ([True, False, False], [False, True, False])
    by_input, by_filter = (backward(dy, x, f, stride, [pad] * 2, 1, mask) for mask in masks)

    layout = ("NHWC", "HWIO", "NHWC")
    of = lambda x, f: jax.lax.conv_general_dilated(x, f, stride, [(pad, pad)] * 2, dimension_numbers=layout)
    jx, jdy = (jax.numpy.asarray(t.permute(0, 2, 3, 1).contiguous().numpy()) for t in (x, dy))
    jf = jax.numpy.asarray(f.permute(2, 3, 1, 0).contiguous().numpy())
    value = jax.jit(of)
    jax_input = jax.jit(lambda dy, f: jax.vjp(lambda x: of(x, f), jx)[1](dy))
    jax_filter = jax.jit(lambda dy, x: jax.vjp(lambda f: of(x, f), jf)[1](dy))
    row(
        f"{h}×{w}×{c}, {kh}×{kw} to {features}, stride {stride[1]}",
        (forward, lambda: value(jx, jf).block_until_ready()),
        (by_input, lambda: jax_input(jdy, jf)[0].block_until_ready()),
        (by_filter, lambda: jax_filter(jdy, jx)[0].block_until_ready()),
    )


def depthwise(extent, channels, stride):
    x, f = numbers(1, channels, extent, extent), numbers(channels, 1, 3, 3)

    def forward():
        return F.conv2d(x, f, stride=stride, padding=1, groups=channels)

    dy = torch.randn_like(forward())
    masks = ([True, False, False], [False, True, False])
    by_input, by_filter = (backward(dy, x, f, [stride] * 2, [1, 1], channels, mask) for mask in masks)
    row(f"depthwise {extent}×{extent}×{channels}, stride {stride}", forward, by_input, by_filter)


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
    for layer in CONVOLUTIONS:
        convolution(*layer)
    for extent, channels in LAYERS:
        for stride in (1, 2):
            depthwise(extent, channels, stride)
    for size, pad in ((2, 0), (3, 1)):
        for images, extent in ((1, 112), (8, 56)):
            pool(size, pad, images, extent)
