"""The results that `engine_cases` records, and how near other results have to be."""

import re

import numpy as np

# The accepted difference of two right results, of the larger of both or 1.
NEAR = {"f32": 2e-5, "f64": 1e-9}


def differs(found, dtype, expected, bounds):
    """What is wrong with a result, and how many elements are not judged because any number is right there."""
    if found.shape != expected.shape or found.dtype != expected.dtype:
        return f"{found.dtype}{found.shape}, expected {expected.dtype}{expected.shape}", 0
    bad, open_ones = unlike(found, dtype, expected, bounds)
    return described(bad, found, expected, bounds), open_ones


def unlike(found, dtype, expected, bounds):
    """Whether each element of a result of the right type is wrong, and how many are not judged."""
    if dtype not in NEAR:
        return found != expected, 0
    a, b = found.astype(np.float64), expected.astype(np.float64)
    with np.errstate(all="ignore"):
        scale = np.maximum(1.0, np.maximum(abs(a), abs(b)))
        near = (a == b) | (np.isnan(a) & np.isnan(b)) | (abs(a - b) <= NEAR[dtype] * scale) | (abs(a - b) <= bounds)
    return ~near & ~np.isinf(bounds), int((~near & np.isinf(bounds)).sum())


def described(bad, found, expected, bounds):
    """A line about the elements that are wrong, if there are any."""
    if not bad.any():
        return None
    at = np.argwhere(bad)[0] if bad.ndim else ()
    at = tuple(int(place) for place in at)
    bound = bounds[at]
    return f"{int(bad.sum())} of {bad.size} elements, at {at} {found[at]!r}, expected {expected[at]!r} within {bound:e}"


def values(path):
    """Inputs, and outputs with their bounds, of a file of `engine_cases`."""
    types = {"f32": np.float32, "f64": np.float64, "i32": np.int32, "i64": np.int64, "u8": np.uint8, "bool": np.bool_}
    inputs, outputs = [], []
    with open(path) as file:
        for line in file:
            kind, *words = line.split()
            if kind == "bounds":
                dtype, value = outputs.pop()
                outputs.append((dtype, value, np.array([float(word) for word in words]).reshape(value.shape)))
                continue
            dtype, shape = re.fullmatch(r"(\w+)\[(.*)\]", words[0]).groups()
            shape = tuple(int(extent) for extent in shape.split(",") if extent)
            read = float if dtype in NEAR else int
            value = np.array([read(word) for word in words[1:]], types[dtype]).reshape(shape)
            if kind == "in":
                inputs.append(value)
            else:
                outputs.append((dtype, value))
    return inputs, outputs
