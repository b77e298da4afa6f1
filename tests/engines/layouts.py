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
# The blocks are stacked along a first axis.
BLOCK = ["wq=_,_,m", "wk=_,_,m", "wv=_,_,m", "wo=_,m,_", "w1=_,_,m", "b1=_,m", "w2=_,m,_"]
ADDITION_DATA = ["x=d,_", "y=d,_"]

# The example, the extent of N, the mesh, the axes along which inputs are split, and the number of all-reduces. One in the loop
# over the blocks counts once.
LAYOUTS = [
    ("digits", 32, "d=8", DATA, 1),
    ("digits", 32, "m=8", TENSOR, 1),
    ("digits", 32, "d=4,m=2", DATA + TENSOR, 2),
    # The gradients of a block are added up in the backward loop, and the others after it.
    ("addition", 16, "d=8", ADDITION_DATA, 2),
    # A block has one after the attention and one after the last layer, forward and backward. The norm of all gradients has
    # three, of single numbers: the largest element, whether one is NaN, and the sum of squares.
    ("addition", 16, "m=4", BLOCK, 7),
    ("addition", 16, "d=2,m=4", ADDITION_DATA + BLOCK, 9),
]

# The accepted difference from the results on one device, relative to the larger magnitude of both, or to 1 if that is larger.
NEAR = 1e-5


@dataclasses.dataclass
class Case:
    """A step over several devices, and its results on one device."""

    name: str
    devices: int
    text: str
    inputs: list
    expected: list
    reduces: int

    def judge(self, found, collectives, is_whole=True):
        """Checks results, each with the mask of its known elements, and the collectives. Returns the mistakes and a summary."""
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
    """Yields the cases in order. Writes their programs to the folder."""
    subprocess.run(["cargo", "build", "--quiet", "-p", "mind-cli"], cwd=ROOT, check=True)
    for example, extent, mesh, shards, reduces in LAYOUTS:
        whole = text(folder, example, extent, [])
        arguments = engine.argument_types(whole)
        options = ["--mesh", mesh]
        for shard in shards:
            # The name of a field stands for this field of every struct that has it.
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
    """Seeded values: classes below 10, and small floats, none below 0 because Adam's means of squares must not be."""
    random = np.random.default_rng(1)
    values = []
    for name, (shape, dtype) in arguments:
        if dtype in (np.int32, np.int64):
            values.append(random.integers(0, 10, shape).astype(dtype))
        else:
            values.append((0.2 * abs(random.standard_normal(shape))).astype(dtype))
    return values


def distance(found, expected):
    """The largest difference of known elements, relative to the larger magnitude of both, or to 1 if that is larger. NaN if one
    of them is NaN."""
    far = 0.0
    for (value, here), other in zip(found, expected, strict=True):
        a, b = value.astype(np.float64)[here], other.astype(np.float64)[here]
        scale = np.maximum(1.0, np.maximum(abs(a), abs(b)))
        far = float(np.maximum(far, (abs(a - b) / scale).max(initial=0.0)))
    return far
