"""Runs StableHLO text on XLA's CPU client, without tracing. It uses private interfaces of jaxlib, whose version
requirements.txt pins."""

import collections
import re

import jax
import numpy as np
from jaxlib import _jax
from jax._src.sharding_impls import GSPMDSharding
from jaxlib import xla_client

jax.config.update("jax_enable_x64", True)


class Client:
    """The given number of CPU devices of this process, or the given devices of several processes."""

    def __init__(self, devices):
        if isinstance(devices, int):
            devices = xla_client.make_cpu_client(num_devices=devices).devices()
        self.client, self.devices = devices[0].client, list(devices)
        self.own = [device for device in self.devices if device.process_index == self.client.process_index()]

    def compile(self, text):
        """Compiles a text for all devices and returns the executable."""
        options = xla_client.CompileOptions()
        build = options.executable_build_options
        options.num_replicas = build.num_replicas = 1
        options.num_partitions = build.num_partitions = len(self.devices)
        build.use_spmd_partitioning = len(self.devices) > 1
        build.use_shardy_partitioner = "sdy." in text
        assignment = np.array([[device.id for device in self.devices]], dtype=np.int32)
        build.device_assignment = options.device_assignment = _jax.DeviceAssignment.create(assignment)
        return self.client.compile_and_load(text, self.devices, options)

    def run(self, text, inputs):
        """The results of a text on one device. Inputs are copied, because donated inputs are overwritten."""
        executable, device = self.compile(text), self.devices[0]
        sharding = jax.sharding.SingleDeviceSharding(device)
        place = lambda array: _jax.batched_device_put(
            jax.core.ShapedArray(array.shape, array.dtype), sharding, [np.array(array)], [device])
        results = executable.execute_sharded([place(array) for array in inputs])
        return [np.asarray(parts[0]) for parts in results.disassemble_into_single_device_arrays()]

    def run_split(self, text, inputs):
        """Runs a text over all devices. Returns each result with a mask of the elements that are on devices of this process, and
        the number of collectives of each kind in the compiled program."""
        executable = self.compile(text)
        on = lambda spec: GSPMDSharding(tuple(self.devices), spec)
        arguments = []
        for array, spec in zip(inputs, executable.get_parameter_shardings()):
            sharding = on(spec)
            parts = sharding.devices_indices_map(array.shape)
            arguments.append(_jax.batched_device_put(
                jax.core.ShapedArray(array.shape, array.dtype), sharding,
                [np.array(array[parts[device]]) for device in self.own], self.own))
        results = executable.execute_sharded(arguments).disassemble_into_single_device_arrays()
        whole = []
        for parts, spec, (shape, dtype) in zip(results, executable.get_output_shardings(), result_types(text)):
            array, here = np.zeros(shape, dtype), np.zeros(shape, bool)
            places = on(spec).devices_indices_map(shape)
            for device, part in zip(self.own, parts):
                array[places[device]] = np.asarray(part)
                here[places[device]] = True
            whole.append((array, here))
        program = executable.hlo_modules()[0].to_string()
        kinds = re.findall(r"\s(all-reduce|all-gather|reduce-scatter|collective-permute|all-to-all)(?:-start)?\(", program)
        return whole, collections.Counter(kinds)


TYPES = {"f32": np.float32, "f64": np.float64, "i32": np.int32, "i64": np.int64, "ui8": np.uint8, "i1": np.bool_}


def tensors(text):
    """The shapes and element types of all tensor types in a text."""
    for written in re.findall(r"tensor<([^>]*)>", text):
        *extents, element = written.split("x")
        yield tuple(int(extent) for extent in extents), TYPES[element]


def signature(text):
    """The arguments and the results in the line that declares `main`."""
    line = next(line for line in text.splitlines() if "func.func public @main" in line)
    return line.split(" -> ")


def argument_types(text):
    """Name, shape and element type of each argument."""
    arguments = signature(text)[0]
    return list(zip(re.findall(r'loc\("([^"]*)"\)', arguments), tensors(arguments)))


def result_types(text):
    return list(tensors(signature(text)[1]))
