"""Modules as JSON, evaluated with jax.numpy. JAX differentiates the result; no gradient of ours is read here."""

import math
import re

import jax
import jax.numpy as jnp
import jax.scipy.special as special
import numpy as np
from jax import lax

jax.config.update("jax_enable_x64", True)
jax.config.update("jax_default_matmul_precision", "highest")

TYPES = {"f32": np.float32, "f64": np.float64, "i32": np.int32, "i64": np.int64, "u8": np.uint8, "bool": np.bool_}


def evaluate(module, inputs):
    """The results of a module without symbols."""
    results = {}
    inputs = iter(inputs)
    for inst in module["instructions"]:
        opcode, attributes = inst["opcode"], inst["attributes"]
        operands = [results[operand][0] for operand in inst["operands"]]
        if opcode == "Input":
            found = [next(inputs)]
        elif opcode == "Result":
            found = [results[inst["operands"][0]][attributes["position"]]]
        elif opcode == "Call":
            found = evaluate(attributes["module"], operands)
        elif opcode == "Pullback":
            # The module takes one cotangent per result in addition to the operands.
            found = operands[: len(attributes["module"]["inputs"]) - len(operands)]
        elif opcode in ("Scan", "While", "When"):
            found = loop(opcode, attributes, operands)
        elif opcode in ELEMENTWISE:
            found = [ELEMENTWISE[opcode](*operands)]
        elif opcode in WITH_ATTRIBUTES:
            found = [WITH_ATTRIBUTES[opcode](*operands, **attributes)]
        else:
            raise NotImplementedError(f"{opcode} occurs only in gradients or calls a function of Rust")
        dtype, shape = of_type(inst["result_type"])
        assert (found[0].dtype, found[0].shape) == (dtype, shape), f"{inst}: {found[0].dtype}{found[0].shape}"
        results[inst["value_id"]] = found
    return [results[output][0] for output in module["outputs"]]


def of_type(text):
    """The element type and shape of a type, such as `f32[2, 3]`."""
    dtype, _, shape = text.rstrip("]").partition("[")
    return TYPES[dtype], tuple(int(extent) for extent in shape.split(",") if extent.strip())


def loop(opcode, attributes, operands):
    """The results of a loop, by `lax.scan`, or by `lax.while_loop` where no operand is iterated."""
    body, carries = attributes["module"], attributes["carries"]
    ranks = [len(of_type(body["instructions"][at]["result_type"])[1]) for at in body["inputs"]]
    is_iterated = [at >= carries and operand.ndim == rank + 1 for at, (operand, rank) in enumerate(zip(operands, ranks))]
    iterated = [operand for operand, iterates in zip(operands, is_iterated) if iterates]

    def inputs(carried, elements):
        elements = iter(elements)
        others = zip(operands[carries:], is_iterated[carries:])
        return [*carried, *(next(elements) if iterates else operand for operand, iterates in others)]

    def run(given):
        results = evaluate(body, given)
        return results[:carries], results[carries:]

    def skip(given):
        stacked = jax.eval_shape(run, given)[1]
        return given[:carries], [jnp.zeros(one.shape, one.dtype) for one in stacked]

    def step(carried, elements):
        given = inputs(carried, elements)
        if opcode == "Scan":
            return run(given)
        # The first carry of `While`, and the first operand after the carries of `When`.
        return lax.cond(given[0 if opcode == "While" else carries], run, skip, given)

    carried = [jnp.asarray(carry) for carry in operands[:carries]]
    if not iterated:
        assert opcode == "While", opcode
        return lax.while_loop(lambda carried: carried[0], lambda carried: run(inputs(carried, []))[0], carried)
    carried, stacked = lax.scan(step, carried, iterated, reverse=attributes["reverse"])
    return [*carried, *stacked]


def like(compute):
    """A function whose result has the element type of the first operand."""
    return lambda x, *others, **options: compute(x, *others, **options).astype(x.dtype)


def broadcast(compute):
    """A function of `lax` on operands that are broadcast."""
    return lambda *operands: compute(*jnp.broadcast_arrays(*operands))


def by_sign(signed, unsigned):
    """Either of two functions, by the element type of the first operand."""
    return lambda x, *operands: (unsigned if x.dtype == np.uint8 else signed)(x, *operands)


def divide(x, y):
    return lax.div(x, y) if jnp.issubdtype(x.dtype, jnp.integer) else x / y


def to(dtype):
    return lambda x: x != 0 if dtype == "bool" else x.astype(TYPES[dtype])


ELEMENTWISE = {
    "Add": jnp.add,
    "Sub": jnp.subtract,
    "Mul": jnp.multiply,
    "Div": broadcast(divide),
    "Relu": lambda x: jnp.where(x > 0, x, 0),
    "Neg": jnp.negative,
    "Exp": jnp.exp,
    "Log": jnp.log,
    "Sqrt": jnp.sqrt,
    "Tanh": jnp.tanh,
    "Exp2": jnp.exp2,
    "Expm1": jnp.expm1,
    "Log2": jnp.log2,
    "Log10": jnp.log10,
    "Log1p": jnp.log1p,
    "Rsqrt": lax.rsqrt,
    "Cbrt": jnp.cbrt,
    "Sinh": jnp.sinh,
    "Cosh": jnp.cosh,
    "Asinh": jnp.arcsinh,
    "Acosh": jnp.arccosh,
    "Atanh": jnp.arctanh,
    "Asin": jnp.arcsin,
    "Acos": jnp.arccos,
    "Atan": jnp.arctan,
    "Sin": jnp.sin,
    "Cos": jnp.cos,
    "Tan": jnp.tan,
    "Erf": special.erf,
    "Erfc": special.erfc,
    "Abs": jnp.abs,
    "Sign": jnp.sign,
    "Floor": jnp.floor,
    "Ceil": jnp.ceil,
    "Round": jnp.round,
    "Trunc": jnp.trunc,
    "Eq": jnp.equal,
    "Ne": jnp.not_equal,
    "Lt": jnp.less,
    "Le": jnp.less_equal,
    "Gt": jnp.greater,
    "Ge": jnp.greater_equal,
    "IsNan": jnp.isnan,
    "IsFinite": jnp.isfinite,
    "And": jnp.logical_and,
    "Or": jnp.logical_or,
    "BitAnd": jnp.bitwise_and,
    "BitOr": jnp.bitwise_or,
    "BitXor": jnp.bitwise_xor,
    "Not": jnp.bitwise_not,
    "Shl": broadcast(lax.shift_left),
    "Shr": broadcast(by_sign(lax.shift_right_arithmetic, lax.shift_right_logical)),
    "Where": jnp.where,
    "ToF32": to("f32"),
    "ToF64": to("f64"),
    "ToU8": to("u8"),
    "ToI32": to("i32"),
    "ToI64": to("i64"),
    "ToBool": to("bool"),
    "Maximum": jnp.maximum,
    "Minimum": jnp.minimum,
    "Fmax": jnp.fmax,
    "Fmin": jnp.fmin,
    "Atan2": jnp.arctan2,
    "Hypot": jnp.hypot,
    "Logaddexp": jnp.logaddexp,
    "Log1mexp": jax.nn.log1mexp,
    "Pow": broadcast(lax.pow),
    "Rem": broadcast(lax.rem),
    "FloorDivide": jnp.floor_divide,
    "Remainder": jnp.remainder,
    "Copysign": jnp.copysign,
    "ErfInv": special.erfinv,
    "Erfcx": special.erfcx,
    "LogNdtr": special.log_ndtr,
    "Lgamma": special.gammaln,
    "Digamma": special.digamma,
    "Trigamma": lambda x: special.polygamma(1, x),
    "StopGradient": lax.stop_gradient,
}


def reduction(compute):
    def reduce(x, axes, keepdims):
        # Without axes it is over all of them, and the result is a single number.
        return compute(x, axis=tuple(axes), keepdims=keepdims) if axes else compute(x, axis=None, keepdims=False)

    return reduce


def argument(compute):
    def reduce(x, axes, keepdims):
        chosen = sorted(axes) or list(range(x.ndim))
        kept = [axis for axis in range(x.ndim) if axis not in chosen]
        rows = x.transpose([*kept, *chosen]).reshape([*(x.shape[axis] for axis in kept), -1])
        found = compute(rows, axis=-1).astype(np.int64)
        return jnp.expand_dims(found, chosen) if keepdims and axes else found

    return reduce


def cumulation(compute, of_none):
    def cumulate(x, axis, reverse, exclusive):
        whole = compute(x, axis=axis, reverse=reverse)
        if not exclusive:
            return whole
        count = x.shape[axis]
        first = jnp.full([*x.shape[:axis], 1, *x.shape[axis + 1 :]], of_none(x.dtype), x.dtype)
        if reverse:
            return jnp.concatenate([lax.slice_in_dim(whole, 1, count, axis=axis), first], axis)
        return jnp.concatenate([first, lax.slice_in_dim(whole, 0, count - 1, axis=axis)], axis)

    return cumulate


def least(dtype):
    return -np.inf if jnp.issubdtype(dtype, jnp.floating) else np.iinfo(dtype).min


def greatest(dtype):
    return np.inf if jnp.issubdtype(dtype, jnp.floating) else np.iinfo(dtype).max


def argsort(x, axis, descending):
    """A stable order in which NaN is greater than every number."""
    is_nan = jnp.isnan(x) if jnp.issubdtype(x.dtype, jnp.floating) else jnp.zeros(x.shape, bool)
    key = x
    if descending:
        key = -x if jnp.issubdtype(x.dtype, jnp.floating) else ~x
        is_nan = ~is_nan
    positions = lax.broadcasted_iota(np.int64, x.shape, axis)
    return lax.sort((is_nan, lax.stop_gradient(key), positions), dimension=axis, is_stable=True, num_keys=2)[2]


def number(value):
    """A float, which is a string if JSON has no such number."""
    return float("nan" if isinstance(value, str) and value.startswith("nan") else value)


def tensor(data, dtype, shape):
    data = data if isinstance(data, list) else [data]
    read = number if dtype in ("f32", "f64") else lambda value: value
    array = np.array([read(value) for value in data], TYPES[dtype])
    return jnp.asarray(np.full(shape, array[0]) if array.size == 1 else array.reshape(shape))


def box(starts, ends, steps):
    return tuple(slice(*bounds) for bounds in zip(starts, ends, steps))


def convolve(x, filter, strides, padding):
    padding = padding.upper() if isinstance(padding, str) else padding
    return lax.conv_general_dilated(x, filter, strides, padding, dimension_numbers=("NHWC", "HWIO", "NHWC"))


WITH_ATTRIBUTES = {
    "Sum": reduction(like(jnp.sum)),
    "Mean": reduction(jnp.mean),
    "Max": reduction(jnp.max),
    "Min": reduction(jnp.min),
    "Prod": reduction(like(jnp.prod)),
    "ArgMax": argument(jnp.argmax),
    "ArgMin": argument(jnp.argmin),
    "CumSum": cumulation(lax.cumsum, lambda dtype: 0),
    "CumProd": cumulation(lax.cumprod, lambda dtype: 1),
    "CumMax": cumulation(lax.cummax, least),
    "CumMin": cumulation(lax.cummin, greatest),
    "ConstI64": lambda value: jnp.asarray(np.int64(value)),
    "ConstF32": lambda value: jnp.asarray(np.float32(number(value))),
    "ConstF64": lambda value: jnp.asarray(np.float64(number(value))),
    "ConstTensor": tensor,
    "Count": lambda shape, dtype: jnp.asarray(TYPES[dtype](math.prod(shape))),
    "Iota": lambda shape, axis: lax.broadcasted_iota(np.int64, shape, axis),
    "Flip": lambda x, axis: jnp.flip(x, axis),
    "Roll": lambda x, axis, shift: jnp.roll(x, shift, axis),
    "ArgSort": argsort,
    "Sort": lambda x, axis, descending: jnp.take_along_axis(x, argsort(x, axis, descending), axis),
    "Reshape": lambda x, new_shape: x.reshape(new_shape),
    "Transpose": lambda x, permutation: x.transpose(permutation),
    "ExpandDims": lambda x, axes: jnp.expand_dims(x, axes),
    "Squeeze": lambda x, axes: jnp.squeeze(x, tuple(axes)),
    "BroadcastTo": lambda x, shape: jnp.broadcast_to(x, shape),
    "Index": lambda x, indices: x[tuple(indices)],
    "Slice": lambda x, starts, ends, steps: x[box(starts, ends, steps)],
    # `pad` of the language.
    "SliceGrad": lambda x, shape, starts, ends, steps: jnp.zeros(shape, x.dtype).at[box(starts, ends, steps)].set(x),
    "Gather": lambda x, indices: jnp.take(x, indices, axis=0),
    "TakeAlong": lambda x, indices, axis: jnp.take_along_axis(x, indices, axis),
    "DynamicSlice": lambda x, start, shape, axis: lax.dynamic_slice_in_dim(x, start, shape[axis], axis),
    "DynamicUpdate": lambda x, start, updates, axis: lax.dynamic_update_slice_in_dim(x, updates, start, axis),
    "Concat": lambda *parts, axis: jnp.concatenate(parts, axis),
    "Dot": like(jnp.dot),
    "MatMul": like(jnp.matmul),
    "Conv2d": convolve,
    "Inspect": lambda x, label: x,
}


def with_gradient(module, inputs, cotangents):
    """The results of a module, and the cotangents of its floating-point inputs."""
    is_float = [jnp.issubdtype(value.dtype, jnp.floating) for value in inputs]

    def both(inputs, cotangents):
        def of_floats(*floats):
            floats = iter(floats)
            return evaluate(module, [next(floats) if floating else value for value, floating in zip(inputs, is_float)])

        results, pullback = jax.vjp(of_floats, *(value for value, floating in zip(inputs, is_float) if floating))
        return results, pullback(cotangents)

    results, gradients = jax.jit(both)(inputs, cotangents)
    return [np.asarray(value) for value in results], [np.asarray(value) for value in gradients]
