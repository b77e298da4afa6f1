#!/usr/bin/env python3
"""Times a training step by mind-xla and the same StableHLO text by JAX, in turns.

    MIND_PJRT_PLUGIN=xla_cpu_pjrt.so benches/peers/xla.py [--turns N] [--steps N]

It needs a Python with jax and numpy in the versions of tests/engines/requirements.txt. Each turn runs the steps of
one and then of the other. The shortest time of all turns counts. The data of a step comes from the process ("here") or
is already on the devices ("there"). Parameters stay on the devices and are donated. The loss is read after each step,
and the time is that of the fastest step. "waited" is as "there" with the mean time of a turn's steps. For "queued", the
steps of a turn are started one after another, and only the last loss is read.
"""

import argparse
import os
import subprocess
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tests", "engines"))

import engine
import jax
import numpy as np
from engine import GSPMDSharding, _jax


class Ours:
    """The step by the example step_time of mind-xla."""

    def __init__(self, devices):
        target = os.environ.get("CARGO_TARGET_DIR", os.path.join(ROOT, "target"))
        command = [os.path.join(target, "release", "examples", "step_time"), str(devices)]
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        count = int(self.process.stdout.readline())
        self.text = "".join(self.process.stdout.readline() for _ in range(count))

    def least(self, kind, steps):
        self.process.stdin.write(f"{kind} {steps}\n")
        self.process.stdin.flush()
        return int(self.process.stdout.readline())


class Jax:
    """The StableHLO text compiled by JAX's client, without tracing."""

    def __init__(self, text, devices):
        self.client = engine.Client(devices)
        self.executable = self.client.compile(text)
        random = np.random.default_rng(1)
        self.arrays = []
        for name, (shape, dtype) in engine.argument_types(text):
            if dtype in (np.int32, np.int64):
                self.arrays.append(random.integers(0, 10, shape).astype(dtype))
            else:
                self.arrays.append((1e-3 if name == "rate" else 0.1 * random.standard_normal(shape)) * np.ones(shape, dtype))
        self.arrays = [array.astype(dtype) for array, (_, (_, dtype)) in zip(self.arrays, engine.argument_types(text))]
        self.names = [name for name, _ in engine.argument_types(text)]
        if devices == 1:
            self.shardings = [jax.sharding.SingleDeviceSharding(self.client.devices[0])] * len(self.arrays)
        else:
            on = lambda spec: GSPMDSharding(tuple(self.client.devices), spec)
            self.shardings = [on(spec) for spec in self.executable.get_parameter_shardings()]
        self.there = [self.place(position) for position in range(len(self.arrays))]
        self.net = [position for position, name in enumerate(self.names) if name.startswith("net.")]

    def place(self, position):
        array, sharding = self.arrays[position], self.shardings[position]
        if len(self.client.devices) == 1:
            parts = [array]
        else:
            places = sharding.devices_indices_map(array.shape)
            parts = [np.ascontiguousarray(array[places[device]]) for device in self.client.devices]
        shape = jax.core.ShapedArray(array.shape, array.dtype)
        return _jax.batched_device_put(shape, sharding, parts, self.client.devices)

    def least(self, kind, steps):
        least, net = float("inf"), [self.there[position] for position in self.net]
        begin = time.perf_counter_ns()
        for _ in range(steps):
            start = time.perf_counter_ns()
            arguments = list(self.there)
            for position in range(len(arguments)):
                if position not in self.net and kind == "here":
                    arguments[position] = self.place(position)
            for position, array in zip(self.net, net):
                arguments[position] = array
            results = self.executable.execute_sharded(arguments)
            first = self.part if kind == "queued" else self.first
            loss, *net = results.consume_with_handlers([first, *([self.whole] * len(self.net))])
            least = min(least, time.perf_counter_ns() - start)
        assert np.isfinite(np.asarray(loss))
        mean = (time.perf_counter_ns() - begin) / steps
        for position, array in zip(self.net, net):
            self.there[position] = array
        return mean if kind in ("waited", "queued") else least

    def first(self, parts):
        return float(np.asarray(parts[0]))

    def part(self, parts):
        return parts[0]

    def whole(self, parts):
        position = self.net[self.filled]
        self.filled = (self.filled + 1) % len(self.net)
        array = self.arrays[position]
        return jax.make_array_from_single_device_arrays(array.shape, self.shardings[position], parts)

    filled = 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--turns", type=int, default=20)
    parser.add_argument("--steps", type=int, default=100, help="steps of a turn")
    arguments = parser.parse_args()
    build = ["cargo", "build", "--quiet", "--release", "-p", "mind-xla", "--example", "step_time"]
    subprocess.run(build, cwd=ROOT, check=True)
    print("| devices | data | mind-xla | JAX | ratio |\n| --- | --- | --- | --- | --- |")
    slow = False
    for devices in (1, 8):
        ours = Ours(devices)
        peer = Jax(ours.text, devices)
        # JAX's client for CPUs stops for want of threads if steps over 8 devices are queued on few cores.
        for kind in ("there", "here", "waited", "queued")[: 4 if devices == 1 else 2]:
            times = [(ours.least(kind, arguments.steps), peer.least(kind, arguments.steps)) for _ in range(arguments.turns)]
            mine, other = (min(column) for column in zip(*times))
            slow |= mine > 1.05 * other
            print(f"| {devices} | {kind} | {mine / 1000:.0f} µs | {other / 1000:.0f} µs | {mine / other:.2f} |", flush=True)
    sys.exit("a step takes more than 1.05 of the time by JAX" if slow else 0)


if __name__ == "__main__":
    main()
