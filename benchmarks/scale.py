"""A day at four sizes, simulated: `python -m benchmarks.scale` prints the tables of docs/scale.md.

Every ten seconds of a day events come to the shards, unevenly, and functions take them away, as fast as their lanes,
their processor, their number and DataZone's limit allow. What it stands on is measured (docs/performance.md), published
or assumed, and said to be which, below.
"""

# ruff: noqa: T201 - talks to the person who plans

from __future__ import annotations

import math
import random
from dataclasses import dataclass, replace

# Measured by `make bench`: processor time of a whole core for an event of some kilobytes.
CPU_SECONDS = 0.0012
# Assumed: DataZone's answer. Nobody publishes it.
DATAZONE_SECONDS = 0.1
EVENT_BYTES = 8_000
# One line for each event, and a document of metrics for each invocation.
LINE_BYTES, METRIC_BYTES = 660, 560
# Assumed: two hours of the night carry this many times the average, as nightly batches do.
PEAK, PEAK_HOURS = 3.0, 2
# The template's defaults. Lambda gives a core to 1769 MB.
MEMORY_GB, LANES, BATCH = 1.0, 32, 100
CORES = MEMORY_GB * 1024 / 1769

# AWS list prices, us-east-1, in dollars, as known in November 2026 and not fetched: check them before relying on them.
GB_SECOND, INVOCATION = 0.0000133334, 0.20e-6  # Lambda, arm64
HTTP_REQUEST = 1.00e-6  # API Gateway, HTTP API
SHARD_HOUR, WEEK_OF_RETENTION_HOUR, PUT_UNIT = 0.015, 0.020, 0.014e-6  # Kinesis, provisioned; a unit is 25 KB
LOG_BYTE = 0.50e-9  # CloudWatch Logs, ingestion

# Amazon Kinesis Data Streams quotas: what a shard takes in a second.
SHARD_BYTES, SHARD_RECORDS = 1_000_000, 1_000
# AWS Lambda developer guide: batches of a shard at a time.
MOST_PARALLEL = 10
STEP, DAY = 10, 86_400
PATIENCE = 15 * 60
# What other operations of DataZone take in a second, at most; PostLineageEvent's own limit is not published.
SLOW = 20.0


@dataclass(frozen=True, slots=True)
class Plan:
    """Settings for so many events a day; `limit` is what DataZone takes in a second."""

    daily: int
    shards: int
    parallel: int
    limit: float = math.inf

    @property
    def average(self) -> float:
        """Events in a second."""
        return self.daily / DAY

    @property
    def peak(self) -> float:
        """Events in a second of the busy hours."""
        return self.average * PEAK


def of_a_function() -> float:
    """Give the events that one function delivers in a second: its lanes wait, its processor works."""
    return min(LANES / DATAZONE_SECONDS, CORES / CPU_SECONDS)


def plan(daily: int) -> Plan:
    """Choose shards for the peak with half in reserve, and as much at a time for each as its share of it needs."""
    peak = daily / DAY * PEAK
    shards = math.ceil(1.5 * peak * max(EVENT_BYTES / SHARD_BYTES, 1 / SHARD_RECORDS))
    parallel = math.ceil(2.5 * peak / shards / of_a_function())
    return Plan(daily, shards, min(parallel, MOST_PARALLEL))


def lags(chosen: Plan, seed: int = 1) -> list[float]:
    """Simulate a day; give for each step how many seconds an event waits that comes to the worst shard then."""
    chance = random.Random(seed)  # noqa: S311 - a simulation
    # Partition keys are jobs, so shards are not even: some have half as much again.
    weights = [chance.uniform(0.5, 1.5) for _ in range(chosen.shards)]
    whole = sum(weights)
    waiting = [0.0] * chosen.shards
    quiet = (24 - PEAK * PEAK_HOURS) / (24 - PEAK_HOURS)
    found = []
    for step in range(DAY // STEP):
        busy = step * STEP < PEAK_HOURS * 3600
        rate = chosen.average * (PEAK if busy else quiet) * STEP
        coming = max(0.0, chance.gauss(rate, math.sqrt(rate)))
        wanted = [
            min(there + coming * weight / whole, of_a_function() * chosen.parallel * STEP)
            for there, weight in zip(waiting, weights, strict=True)
        ]
        share = min(1.0, chosen.limit * STEP / (sum(wanted) or 1.0))
        waiting = [
            there + coming * weight / whole - taken * share
            for there, weight, taken in zip(waiting, weights, wanted, strict=True)
        ]
        # What comes now waits until all before it is gone.
        found.append(max(_wait(there, taken * share) for there, taken in zip(waiting, wanted, strict=True)))
    return found


def _wait(there: float, taken: float) -> float:
    """Give the seconds until `there` events are gone, when `taken` of them go in a step."""
    return there / taken * STEP if taken else 0.0


def least_limit(chosen: Plan) -> float:
    """Find the least that DataZone has to take in a second for no event to wait for longer than PATIENCE."""
    low, high = chosen.average, chosen.peak * 1.2
    for _ in range(8):
        middle = (low + high) / 2
        low, high = (low, middle) if max(lags(replace(chosen, limit=middle))) <= PATIENCE else (middle, high)
    return high


def http_dollars() -> float:
    """Give the cost of a million events over HTTP: each holds a function while DataZone answers."""
    duration = DATAZONE_SECONDS + CPU_SECONDS / CORES
    each = duration * MEMORY_GB * GB_SECOND + INVOCATION + HTTP_REQUEST + (LINE_BYTES + METRIC_BYTES) * LOG_BYTE
    return each * 1e6


def stream_dollars(chosen: Plan) -> float:
    """Give the cost of a million events through the stream."""
    # A batch fills for a second (StreamBatchWindow) or is full.
    filled = max(1.0, min(BATCH, chosen.average / chosen.shards))
    rounds = math.ceil(filled / LANES) * DATAZONE_SECONDS
    duration = max(rounds, filled * CPU_SECONDS / CORES)
    invocation = (duration * MEMORY_GB * GB_SECOND + INVOCATION + METRIC_BYTES * LOG_BYTE) / filled
    shards = chosen.shards * 24 * (SHARD_HOUR + WEEK_OF_RETENTION_HOUR) / chosen.daily
    return (invocation + shards + PUT_UNIT + LINE_BYTES * LOG_BYTE) * 1e6


def cells(daily: int) -> tuple[str, ...]:
    """Give the row of so many events a day, in the order of HEADINGS."""
    chosen = plan(daily)
    over_http = math.ceil(chosen.peak * (DATAZONE_SECONDS + CPU_SECONDS / CORES))
    streamed = math.ceil(chosen.peak / of_a_function())
    slow = "grows for ever" if chosen.average >= SLOW else f"{max(lags(replace(chosen, limit=SLOW))):.0f} s"
    return (
        f"{daily:,}",
        f"{chosen.average:,.1f}, {chosen.peak:,.1f}",
        f"{chosen.shards}, {chosen.parallel}",
        f"{over_http:,} or {streamed:,}",
        f"{max(lags(chosen)):.0f} s",
        slow,
        f"{least_limit(chosen):,.1f}",
        f"{http_dollars():.2f}",
        f"{stream_dollars(chosen):.2f}",
    )


HEADINGS = (
    "events a day",
    "a second: average, peak",
    "shards, batches of each at a time",
    "functions at the peak: HTTP or stream",
    "worst lag",
    "the same if DataZone takes 20/s",
    "DataZone must take, /s, for 15 minutes",
    "HTTP, $ a million",
    "stream, $ a million",
)


def main() -> None:
    """Print the table."""
    print(f"| {' | '.join(HEADINGS)} |\n{'|---' * len(HEADINGS)}|")
    for daily in (10_000, 1_000_000, 100_000_000, 1_000_000_000):
        print(f"| {' | '.join(cells(daily))} |", flush=True)


if __name__ == "__main__":
    main()
