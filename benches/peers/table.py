#!/usr/bin/env python3
"""Compares the project with its peers, from lines of JSON: table.py FILE... [--losing]

For each number of threads it prints a table of the shortest times in microseconds, with one row per case and one column
per peer. `*` marks the fastest of a row, `!` a result that differs from the reference, and `-` a case that a peer
cannot run. The last columns are:

- the fastest peer's time divided by the project's (above 1 the project is faster)
- the floating-point operations per second of the project's program
- their share of the machine's peak

Below the tables are the geometric means of those ratios, with and without the loops by hand, and the cells in which the
project is not the fastest, worst first. `--losing` prints only these cells.
"""
import argparse
import json
import math

OURS = "mind"
# Peers with this prefix are other builds of the project: they have columns, but do not count as peers.
VARIANTS = "mind-"
# Loops by hand around a library's products, with buffers kept between calls. They are a lower bound rather than code
# that users write. They count as a peer in the first mean and are left out of the second.
FLOOR = "gemm+loops"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+")
    parser.add_argument("--losing", action="store_true", help="only the cells in which the project is not the fastest")
    options = parser.parse_args()
    results = Results(options.files)
    if not options.losing:
        for threads in results.threads():
            print(table(results, threads))
        for line in results.limits_lines():
            print(line)
    print(summary(results))


class Results:
    """The shortest time of each cell. A cell is (threads, (workload, size), peer)."""

    def __init__(self, files):
        self.cells, self.rows, self.peers, self.limits = {}, [], [], {}
        for path in files:
            with open(path) as lines:
                for line in lines:
                    self.add(json.loads(line))

    def add(self, line):
        row, threads, peer = (line["workload"], line["size"]), line["threads"], line["peer"]
        if peer == "limit":
            value = line.get("gflops", line.get("gb_s"))
            self.limits[threads, *row] = max(value, self.limits.get((threads, *row), 0))
            return
        if row not in self.rows:
            self.rows.append(row)
        if peer not in self.peers:
            self.peers.append(peer)
        key = (threads, row, peer)
        if line.get("best_us", math.inf) <= self.cells.get(key, {}).get("best_us", math.inf):
            self.cells[key] = line

    def threads(self):
        return sorted({threads for threads, _, _ in self.cells})

    def columns(self, threads):
        return [peer for peer in self.peers if any((threads, row, peer) in self.cells for row in self.rows)]

    def time(self, threads, row, peer):
        """The time of a correct result, or None."""
        line = self.cells.get((threads, row, peer), {})
        return line.get("best_us") if line.get("ok") else None

    def fastest_peer(self, threads, row, without=None):
        peers = [peer for peer in self.peers if peer != OURS and not peer.startswith(VARIANTS) and peer != without]
        times = [(self.time(threads, row, peer), peer) for peer in peers]
        times = [pair for pair in times if pair[0] is not None]
        return min(times, default=None)

    def ratio(self, threads, row, without=None):
        ours, best = self.time(threads, row, OURS), self.fastest_peer(threads, row, without)
        # The clock resolves 1 ns, so shorter times count as 1 ns.
        return max(best[0], 1e-3) / max(ours, 1e-3) if ours is not None and best else None

    def peak(self, threads):
        return self.limits.get((threads, "fma_avx512", "f32")) or self.limits.get((threads, "fma_avx2", "f32"))

    def limits_lines(self):
        for (threads, what, size), value in self.limits.items():
            unit = "GFLOP/s" if what.startswith("fma") else "GB/s"
            yield f"limit: {what} {size}, {threads} thread(s): {value:.1f} {unit}"


def table(results, threads):
    columns = results.columns(threads)
    lines = [["workload", "size", *columns, "peer/ours", "GF/s", "% peak"]]
    for row in results.rows:
        times = {peer: results.time(threads, row, peer) for peer in columns}
        least = min((time for time in times.values() if time is not None), default=None)
        line = [*row]
        for peer in columns:
            got = results.cells.get((threads, row, peer), {})
            mark = "!" if not got.get("ok") else "*" if times[peer] == least else ""
            line.append(shown(got["best_us"]) + mark if "best_us" in got else "-")
        ratio, flops, ours = results.ratio(threads, row), operations(*row), times.get(OURS)
        line.append(f"{ratio:.2f}" if ratio else "")
        speed = flops / ours / 1e3 if flops and ours else None
        peak = results.peak(threads)
        line += [f"{speed:.0f}" if speed else "", f"{100 * speed / peak:.0f}" if speed and peak else ""]
        lines.append(line)
    widths = [max(map(len, column)) for column in zip(*lines)]
    text = [f"\nleast time in µs, {threads} thread(s)"]
    for line in lines:
        cells = (word.ljust(n) if i < 2 else word.rjust(n) for i, (word, n) in enumerate(zip(line, widths)))
        text.append("  ".join(cells).rstrip())
    return "\n".join(text)


def summary(results):
    cells = [(threads, row) for threads in results.threads() for row in results.rows]
    text = []
    for name, without in [("every peer", None), (f"all but {FLOOR}", FLOOR)]:
        for counts in [*([threads] for threads in results.threads()), results.threads()]:
            ratios = [results.ratio(*cell, without) for cell in cells if cell[0] in counts]
            ratios = [ratio for ratio in ratios if ratio]
            if ratios:
                text.append(f"against {name}, {' and '.join(map(str, counts))} thread(s): fastest in "
                            f"{sum(ratio > 1 for ratio in ratios)} of {len(ratios)} cells, "
                            f"geometric mean of peer/ours {mean(ratios):.2f}")
    losing = [(results.ratio(*cell), *cell) for cell in cells if (results.ratio(*cell) or math.inf) <= 1]
    text.append(f"not the fastest in {len(losing)} cells:")
    for ratio, threads, row in sorted(losing):
        time, peer = results.fastest_peer(threads, row)
        ours = results.time(threads, row, OURS)
        text.append(f"  {ratio:.2f}  {row[0]} {row[1]}, {threads} thread(s): {shown(ours)} µs, {peer} {shown(time)} µs")
    return "\n" + "\n".join(text)


def mean(ratios):
    logarithms = [math.log(ratio) for ratio in ratios]
    return math.exp(sum(logarithms) / len(logarithms))


def operations(workload, size):
    """The floating-point operations of a call, for products only."""
    extents = [int(word) for word in size.split("x")]
    if workload == "layer":
        batch, inputs, outputs = extents
        return 2 * batch * inputs * outputs
    if workload.startswith("mlp"):
        batch, inputs, hidden, outputs = extents
        first, second = 2 * batch * inputs * hidden, 2 * batch * hidden * outputs
        return first + second if workload == "mlp_fwd" else 2 * first + 3 * second  # no gradient by x
    if workload.startswith("conv"):
        batch, height, width, inputs, outputs, k = extents
        once = 2 * batch * (height - k + 1) * (width - k + 1) * k * k * inputs * outputs
        return once * (3 if workload == "conv_grad" else 1)
    return None


def shown(time):
    return f"{time:.3f}" if time < 1 else f"{time:.2f}" if time < 100 else f"{time:.0f}"


if __name__ == "__main__":
    main()
