"""Times of calls, for the scripts that run the benches' rows in other libraries."""

import time


def least(call, repetitions=20, seconds=1e-3):
    """The shortest time of a call in microseconds.

    A first call compiles. A repetition has as many calls as take about `seconds`.
    """
    call()
    start = time.perf_counter()
    call()
    count = max(1, int(seconds / (time.perf_counter() - start)))
    best = float("inf")
    for _ in range(repetitions):
        start = time.perf_counter()
        for _ in range(count):
            call()
        best = min(best, (time.perf_counter() - start) / count)
    return best * 1e6
