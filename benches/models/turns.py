#!/usr/bin/env python3
"""Runs commands `NAME=COMMAND` in turns and prints the times that they report as a table; `run.sh` calls it."""

import os
import re
import subprocess
import sys

SAID = re.compile(r"(\d+) steps in ([\d.]+) s(?:, loss ([\d.]+))?")


def run(command, threads):
    """Returns steps per second, the peak memory of the process in MB, and the loss."""
    names = ["MIND_NUM_THREADS", "RAYON_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"]
    env = {**os.environ, **{name: threads for name in names}}
    process = subprocess.Popen(command.split(), env=env, stdout=subprocess.PIPE, text=True)
    output = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    said = SAID.search(output)
    if status != 0 or said is None:
        sys.exit(f"{command} failed:\n{output}")
    return int(said[1]) / float(said[2]), usage.ru_maxrss / 1024, said[3] or ""


def main():
    commands = [argument.split("=", 1) for argument in sys.argv[1:]]
    threads, best = os.environ["MODELS_THREADS"], {}
    for _ in range(int(os.environ["MODELS_PASSES"])):
        for name, command in commands:
            found = run(command, threads)
            print(f"{name}: {found[0]:.1f} steps a second, {found[1]:.0f} MB, load {os.getloadavg()[0]:.1f}", file=sys.stderr)
            best[name] = max(best.get(name, found), found)
    print("| | steps a second | beside ours | memory | loss |\n| --- | --- | --- | --- | --- |")
    ours = best.get("mind", next(iter(best.values())))[0]
    for name, (speed, memory, loss) in best.items():
        print(f"| {name} | {speed:.1f} | {speed / ours:.2f} | {memory:.0f} MB | {loss} |")


main()
