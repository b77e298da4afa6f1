"""Draws time as a function of size: plot.py SWEEP.jsonl FOLDER writes layer.svg, step.svg and chain.svg.

If several passes have lines for the same point, the shortest time counts. The same lines give the same bytes.
"""
import json
import sys
from pathlib import Path

import matplotlib

matplotlib.use("svg")
matplotlib.rcParams.update({"svg.hashsalt": "mind", "svg.fonttype": "none", "font.size": 10})

import matplotlib.pyplot as plt

# The workload, the file, the title, and the label of the horizontal axis.
PICTURES = [
    ("layer", "layer.svg", "layer: relu(x @ w + b), square", "elements of the result"),
    ("mlp_step", "step.svg", "training step of two layers, batch 32", "elements of the hidden layer's weights"),
    ("chain", "chain.svg", "chain: mean(exp(-(x * y + x)) * x - y * y)", "elements of an operand"),
]
STYLES = {
    "mind": {"color": "#c0392b", "linewidth": 2.2, "marker": "o", "markersize": 4, "zorder": 4},
    "ndarray": {"color": "#2c7fb8", "marker": "s", "markersize": 3.5},
    "gemm+loops": {"color": "#31a354", "marker": "^", "markersize": 4},
    "jax": {"color": "#8856a7", "marker": "D", "markersize": 3.5},
    "limit": {"color": "#777777", "linestyle": "--"},
}


def main():
    sweep, folder = sys.argv[1:]
    with open(sweep) as lines:
        points = [json.loads(line) for line in lines]
    for workload, file, title, counted in PICTURES:
        draw([point for point in points if point["workload"] == workload], title, counted, Path(folder, file))


def draw(points, title, counted, file):
    figure, axes = plt.subplots(figsize=(7, 4.6), layout="constrained")
    for peer, style in STYLES.items():
        least = {}
        for point in points:
            if point["peer"] == peer:
                elements, time = point["elements"], point["best_us"]
                least[elements] = min(time, least.get(elements, time))
        if least:
            axes.loglog(*zip(*sorted(least.items())), label=peer, **{"linewidth": 1.3} | style)
    axes.set_xscale("log", base=2)
    # The limit of the smallest programs is below the resolution of a clock.
    axes.set_ylim(bottom=1e-2)
    axes.set(title=title, xlabel=counted, ylabel="µs a call, one thread")
    axes.grid(True, which="major", color="#dddddd", linewidth=0.6)
    axes.legend(frameon=False)
    figure.savefig(file, metadata={"Date": None, "Creator": None})
    plt.close(figure)


if __name__ == "__main__":
    main()
