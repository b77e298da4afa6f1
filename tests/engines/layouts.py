"""Training steps of the examples, and how they are split over devices."""

import dataclasses
import math
import os
import re
import subprocess

import numpy as np

import engine
from environment import ROOT

DATA = ["x=d,_", "y=d"]
TENSOR = ["w1=_,m", "b1=m", "w2=m,_"]
BLOCK = ["wq=_,m", "wk=_,m", "wv=_,m", "wo=m,_", *TENSOR]
ADDITION_DATA = ["x=d,_", "y=d,_"]

# The example, the extent of N, the mesh, how inputs are split, and how many all-reduces that takes.
LAYOUTS = [
    ("digits", 32, "d=8", DATA, 1),
    ("digits", 32, "m=8", TENSOR, 1),
    ("digits", 32, "d=4,m=2", DATA + TENSOR, 2),
    ("addition", 16, "d=8", ADDITION_DATA, 1),
    # Of each of two blocks after the attention and after the last layer, forward and back. Of the norm of all gradients three, of
    # single numbers: the largest element, whether one is NaN, and the sum of squares.
    ("addition", 16, "m=4", BLOCK, 11),
    # XLA puts some together with those of the gradients.
    ("addition", 16, "d=2,m=4", ADDITION_DATA + BLOCK, 12),
]

# How far results may be from those of one device, of the larger of both or 1.
NEAR = 1e-5


@dataclasses.dataclass
class Case:
    """A step over several devices, and what one device makes of it."""

    name: str
    devices: int
    text: str
    inputs: list
    expected: list
    reduces: int

    def judge(self, found, collectives, is_whole=True):
        """What is wrong with results, each with which of its elements are here, and with the collectives; a line about it."""
        far, collectives = distance(found, self.expected), dict(collectives)
        wrong = []
        if not far <= NEAR:
            wrong.append(f"{self.name} is off by {far:.1e}")
        if is_whole and not all(here.all() for _, here in found):
            wrong.append(f"{self.name}: elements of the results are on no device")
        if collectives != {"all-reduce": self.reduces}:
            wrong.append(f"{self.name}: {collectives}, expected {self.reduces} all-reduces")
        return wrong, f"{self.name}: {collectives}, {far:.1e} from one device"


def cases(folder):
    """The cases in order; programs are written to the folder."""
    subprocess.run(["cargo", "build", "--quiet", "-p", "mind-cli"], cwd=ROOT, check=True)
    for example, extent, mesh, shards, reduces in LAYOUTS:
        whole = text(folder, example, extent, [])
        arguments = engine.argument_types(whole)
        options = ["--mesh", mesh]
        for shard in shards:
            # A name of a parameter stands for those of every struct that has one of it.
            field, axes = shard.split("=")
            named = [name for name, _ in arguments if name.split(".")[-1] == field]
            assert named, f"{example} has no {field}: {arguments}"
            options += [word for name in named for word in ("--shard", f"{name}={axes}")]
        inputs = sample(arguments)
        yield Case(
            name=f"{example} over {mesh}",
            devices=math.prod(int(axis.split("=")[1]) for axis in mesh.split(",")),
            text=text(folder, example, extent, options),
            inputs=inputs,
            expected=engine.Client(1).run(whole, inputs),
            reduces=reduces,
        )


def text(folder, example, extent, options):
    """The step of an example as StableHLO."""
    with open(os.path.join(ROOT, "examples", example, "main.rs")) as file:
        block = re.search(r"^mind! \{\n(.*?)^\}\n", file.read(), re.S | re.M).group(1)
    source = os.path.join(folder, example + ".mind")
    with open(source, "w") as file:
        file.write(block)
    mind = os.path.join(os.environ.get("CARGO_TARGET_DIR", os.path.join(ROOT, "target")), "debug", "mind")
    command = [mind, "convert", source, "--function", "step", "--to", "stablehlo", "--dim", f"N={extent}", *options]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def sample(arguments):
    """Seeded values: small numbers, classes below 10, and what Adam keeps of squares not below 0."""
    random = np.random.default_rng(1)
    values = []
    for name, (shape, dtype) in arguments:
        if dtype in (np.int32, np.int64):
            values.append(random.integers(0, 10, shape).astype(dtype))
        else:
            values.append((0.2 * abs(random.standard_normal(shape))).astype(dtype))
    return values


def distance(found, expected):
    """How far results are from others, where they are here, of the larger of both or 1; NaN where one is."""
    far = 0.0
    for (value, here), other in zip(found, expected, strict=True):
        a, b = value.astype(np.float64)[here], other.astype(np.float64)[here]
        scale = np.maximum(1.0, np.maximum(abs(a), abs(b)))
        far = float(np.maximum(far, (abs(a - b) / scale).max(initial=0.0)))
    return far
