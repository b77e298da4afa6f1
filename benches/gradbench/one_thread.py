#!/usr/bin/env python3
"""Runs a Python tool of GradBench on one thread, and waits for its results.

    one_thread.py CHECKOUT/python/gradbench/gradbench/tools/TOOL/run.py

JAX returns before its results are there, and its tool does not wait. PyTorch uses all processors unless it is told
not to.
"""

import os
import runpy
import sys

from gradbench import wrap

original = wrap.multiple_runs


def ready(output):
    jax = sys.modules.get("jax")
    return jax.block_until_ready(output) if jax else output


def multiple_runs(**options):
    decorate = original(**options)
    return lambda function: decorate(lambda value: ready(function(value)))


script = sys.argv.pop(1)
wrap.multiple_runs = multiple_runs
sys.path.insert(0, os.path.dirname(script))
if os.path.basename(os.path.dirname(script)) == "pytorch":
    import torch

    torch.set_num_threads(1)
runpy.run_path(script, run_name="__main__")
