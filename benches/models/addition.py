#!/usr/bin/env python3
"""The network of the example `addition` in PyTorch: `addition.py STEPS [compile]` prints the time of STEPS steps.

OMP_NUM_THREADS sets the number of threads. The time does not include the compilation by `compile`.
"""

import math
import os
import sys
import time

import torch
import torch.nn as nn
import torch.nn.functional as F

SYMBOLS, PLACES, DIGITS, WIDTH, HEADS, INNER, BATCH = 12, 11, 4, 64, 4, 256, 256


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.q, self.k, self.v, self.o = (nn.Linear(WIDTH, WIDTH, bias=False) for _ in range(4))
        self.inner, self.outer = nn.Linear(WIDTH, INNER), nn.Linear(INNER, WIDTH)

    def forward(self, x):
        h = self.norm1(x)
        heads = lambda layer: layer(h).view(-1, PLACES, HEADS, WIDTH // HEADS).transpose(1, 2)
        seen = F.scaled_dot_product_attention(heads(self.q), heads(self.k), heads(self.v), is_causal=True)
        x = x + self.o(seen.transpose(1, 2).reshape(-1, PLACES, WIDTH))
        return x + self.outer(F.gelu(self.inner(self.norm2(x))))


class Gpt(nn.Module):
    def __init__(self):
        super().__init__()
        self.symbols = nn.Embedding(SYMBOLS, WIDTH)
        self.places = nn.Parameter(0.1 * torch.randn(PLACES, WIDTH))
        self.blocks = nn.Sequential(Block(), Block())
        self.norm, self.head = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, SYMBOLS, bias=False)

    def forward(self, x):
        h = self.blocks(self.symbols(x) + self.places)
        return self.head(self.norm(h[:, -DIGITS:]))


def questions():
    """The inputs and targets of training: texts without their last symbol, and the answers."""
    a, b = torch.randint(0, 1000, (2, BATCH))
    digits = lambda n, powers: [n // 10**power % 10 for power in powers]
    sign = lambda token: [torch.full((BATCH,), token)]
    answer = digits(a + b, [0, 1, 2, 3])
    x = digits(a, [2, 1, 0]) + sign(10) + digits(b, [2, 1, 0]) + sign(11) + answer[:3]
    return torch.stack(x, 1), torch.stack(answer, 1)


def rate(t, steps):
    """The same as `optim::warmup_cosine(t, 3e-3, 50, steps)`."""
    return 3e-3 * t / 50 if t < 50 else 1.5e-3 * (1 + math.cos(math.pi * (t - 50) / max(steps - 50, 1)))


def main():
    steps, compiled = int(sys.argv[1]), "compile" in sys.argv[2:]
    torch.set_num_threads(int(os.environ.get("OMP_NUM_THREADS", "1")))
    torch.manual_seed(1)
    gpt = Gpt()
    forward = torch.compile(gpt) if compiled else gpt
    optimiser = torch.optim.AdamW(gpt.parameters(), lr=1e-3, betas=(0.9, 0.98), weight_decay=0.01, fused=True)

    def step(t):
        x, y = questions()
        loss = F.cross_entropy(forward(x).reshape(-1, SYMBOLS), y.reshape(-1))
        optimiser.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(gpt.parameters(), 1.0)
        optimiser.param_groups[0]["lr"] = rate(t, steps)
        optimiser.step()
        return loss

    if compiled:
        step(0)
    start = time.perf_counter()
    for t in range(1, steps + 1):
        loss = step(t)
    print(f"{steps} steps in {time.perf_counter() - start:.2f} s, loss {loss.item():.4f}")


main()
