#!/usr/bin/env python3
"""Compares builds of the cases' programs, timed in turns: turns.py [WORD...] [--build NAME=PROGRAM:THREADS:CPUS]...

Each round times some batches of every case in every build, one after the other, so that a slow spell of the machine
affects all alike. The table has the shortest times and their ratios to those of the first build. Words select the cases
whose names contain one of them. PROGRAM is a `turns` of this package, built from any commit.

Without --build the project is built for the default target and with -C target-cpu=native. The compared builds are then:
default, default again (to show the noise), native on one thread, and default on two threads.
"""
import argparse
import math
import os
import pathlib
import subprocess

HERE = pathlib.Path(__file__).resolve().parent
TARGETS = HERE.parent.parent / "target" / "peers" / "target"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("words", nargs="*")
    parser.add_argument("--build", action="append", default=[])
    parser.add_argument("--rounds", type=int, default=60)
    options = parser.parse_args()
    builds = [Build(text) for text in options.build or defaults()]
    cases = [case for case in builds[0].cases if not options.words or any(word in case for word in options.words)]
    least = {}
    for turn in range(options.rounds):
        for case in cases:
            # The order alternates, because the second build inherits the state of caches and clock from the first.
            for build in builds[:: 1 if turn % 2 == 0 else -1]:
                time = build.time(case)
                least[case, build.name] = min(time, least.get((case, build.name), math.inf))
    names = [build.name for build in builds]
    print(f"load {os.getloadavg()[0]:.1f}, {options.rounds} rounds; ns, and times of {names[0]}")
    print(f"{'':28}" + "".join(f"{name:>12}" for name in names) + "".join(f"{name:>12}" for name in names[1:]))
    ratios = {name: [least[case, name] / least[case, names[0]] for case in cases] for name in names[1:]}
    for row, case in enumerate(cases):
        times = "".join(f"{least[case, name]:12.1f}" for name in names)
        print(f"{case:28}{times}" + "".join(f"{ratios[name][row]:12.3f}" for name in names[1:]))
    means = [math.exp(sum(map(math.log, of_cases)) / len(cases)) for of_cases in ratios.values()]
    print(f"{'geometric mean':28}" + " " * 12 * len(names) + "".join(f"{mean:12.3f}" for mean in means))


def defaults():
    """Builds the project for both targets and returns the builds to compare."""
    programs = [build("mind", ""), build("mind-native", "-C target-cpu=native")]
    return [
        f"default={programs[0]}:1:0",
        f"again={programs[0]}:1:0",
        f"native={programs[1]}:1:0",
        f"two threads={programs[0]}:2:0-1",
    ]


def build(target, flags):
    folder = TARGETS / target
    environment = os.environ | {"RUSTFLAGS": flags, "CARGO_TARGET_DIR": str(folder)}
    command = ["cargo", "build", "--release", "-q", "--bin", "turns", "--manifest-path", HERE / "Cargo.toml"]
    subprocess.run(command, env=environment, check=True)
    return folder / "release" / "turns"


class Build:
    """A running `turns` process."""

    def __init__(self, text):
        self.name, rest = text.split("=", 1)
        program, self.threads, cpus = rest.rsplit(":", 2)
        command = ["taskset", "-c", cpus, program]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.cases = self.process.stdout.readline().split()

    def time(self, case):
        self.process.stdin.write(f"{case} {self.threads}\n")
        self.process.stdin.flush()
        return float(self.process.stdout.readline())


if __name__ == "__main__":
    main()
