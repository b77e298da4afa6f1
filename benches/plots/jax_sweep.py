"""Times the points of the sweep by JAX under jit. Prints one line of JSON per point.

jax_sweep.py SWEEP.jsonl

The file holds such lines and gives the sizes.
"""
import json
import os
import sys
import time

os.environ["JAX_PLATFORMS"] = "cpu"
os.environ["XLA_FLAGS"] = os.environ.get("XLA_FLAGS", "") + " --xla_cpu_multi_thread_eigen=false"

import jax
import jax.numpy as jnp
import numpy as np

BATCH_SECONDS, ROUNDS, RATE = 4e-3, 5, 0.01


def layer(x, w, b):
    return jnp.maximum(x @ w + b, 0)


def step(x, y, *parameters):
    def loss(w1, b1, w2, b2):
        return jnp.mean((layer(x, w1, b1) @ w2 + b2 - y) ** 2)

    value, gradients = jax.value_and_grad(loss, (0, 1, 2, 3))(*parameters)
    return value, *(p - RATE * g for p, g in zip(parameters, gradients))


def chain(x, y):
    return jnp.mean(jnp.exp(-(x * y + x)) * x - y * y)


def shapes(workload, extents):
    if workload == "layer":
        b, i, o = extents
        return layer, [(b, i), (i, o), (o,)]
    if workload == "mlp_step":
        b, i, h, o = extents
        return step, [(b, i), (b, o), (i, h), (h,), (h, o), (o,)]
    return chain, [tuple(extents)] * 2


def least_time(function, arguments):
    """Microseconds per call, including its dispatch and the wait for its results."""
    function = jax.jit(function)

    def batch(calls):
        start = time.perf_counter()
        for _ in range(calls):
            jax.block_until_ready(function(*arguments))
        return (time.perf_counter() - start) / calls

    batch(1)
    calls = max(1, int(BATCH_SECONDS / batch(3)))
    return min(batch(calls) for _ in range(ROUNDS)) * 1e6


def main():
    random = np.random.default_rng(1)
    with open(sys.argv[1]) as lines:
        points = [point for point in map(json.loads, lines) if point["peer"] == "mind"]
    for point in {(point["workload"], point["size"]): point for point in points}.values():
        function, inputs = shapes(point["workload"], [int(word) for word in point["size"].split("x")])
        arguments = [jnp.asarray((random.uniform(-1, 1, shape) * shape[0] ** -0.5).astype("f4")) for shape in inputs]
        print(json.dumps(point | {"peer": "jax", "best_us": round(least_time(function, arguments), 6)}), flush=True)


if __name__ == "__main__":
    main()
