"""CloudWatch metrics in its embedded metric format: gathered while a door works, then written as lines of its log.

Source: Amazon CloudWatch user guide, "Specification: Embedded metric format". A dimension's values are closed sets of
adapter.model, rules of ours, or producers out of the operator's own list; never a word of an event.
"""

from __future__ import annotations

import json
import sys
import time
from collections import defaultdict
from dataclasses import dataclass
from threading import Lock
from typing import TYPE_CHECKING, Any

from aws_lambda_powertools.metrics import EphemeralMetrics, MetricUnit

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

# What values are told apart by: pairs of a dimension and its value, beside the service.
type Labels = tuple[tuple[str, str], ...]

# As many values as one document may have of one metric.
_MOST = 100

_encode = json.JSONEncoder(check_circular=False, separators=(",", ":")).encode


@dataclass(frozen=True, slots=True)
class Metric:
    """Its unit, and the sets of dimensions that it is told by, each beside the service.

    A set but the first is left out where there is no label for one of its dimensions: a stream has no producer.
    """

    unit: MetricUnit
    dimensions: tuple[tuple[str, ...], ...] = ((),)


_COUNT = MetricUnit.Count
_BY_DOOR = (("door",),)
METRICS = {
    "Delivered": Metric(_COUNT, (("door",), ("producer",))),
    "Deferred": Metric(_COUNT, (("door",), ("door", "cause"), ("producer",))),
    "Rejected": Metric(_COUNT, (("door",), ("door", "code"), ("producer",))),
    "Warned": Metric(_COUNT, (("door",), ("door", "rule"))),
    "NamespaceNotAllowed": Metric(_COUNT, (("door",), ("door", "producer"))),
    "Unkept": Metric(_COUNT, _BY_DOOR),
    "Fault": Metric(_COUNT),
    "AuthorizerDenied": Metric(_COUNT, ((), ("reason",))),
    "DataZoneLatency": Metric(MetricUnit.Milliseconds),
    "DataZoneRetries": Metric(_COUNT),
    "DataZoneThrottles": Metric(_COUNT),
    "EventBytes": Metric(MetricUnit.Bytes, _BY_DOOR),
    "DeferralAge": Metric(MetricUnit.Seconds),
    "BatchSize": Metric(_COUNT, _BY_DOOR),
    "Deaggregated": Metric(_COUNT, _BY_DOOR),
}


class Metrics:
    """What one function counts and measures. Safe to share among threads."""

    def __init__(self) -> None:
        """Take service and namespace from Powertools' own environment variables."""
        self._values: defaultdict[Labels, dict[str, list[float]]] = defaultdict(dict)
        self._documents: dict[tuple[Labels, tuple[str, ...]], tuple[str, str]] = {}
        self._lock = Lock()

    def add(
        self, labels: Labels, counted: Iterable[tuple[str, int]], measured: Iterable[tuple[str, float]] = ()
    ) -> None:
        """Add to sums, and to lists of values whose distribution matters, by names out of METRICS."""
        with self._lock:
            values = self._values[labels]
            for name, times in counted:
                values.setdefault(name, [0])[0] += times
            for name, value in measured:
                values.setdefault(name, []).append(value)

    def flush(self) -> None:
        """Write what was added since the last time: a document for each set of labels, more where values are many."""
        with self._lock:
            gathered, self._values = self._values, defaultdict(dict)
        now = int(time.time() * 1000)
        lines = [line for labels, values in gathered.items() for line in self._lines(labels, values, now)]
        # In one piece, so that no other line comes between.
        sys.stdout.write("".join(lines))
        sys.stdout.flush()

    def _lines(self, labels: Labels, values: Mapping[str, list[float]], now: int) -> Iterable[str]:
        while values:
            yield self._line(labels, {name: some[:_MOST] for name, some in values.items()}, now)
            values = {name: some[_MOST:] for name, some in values.items() if len(some) > _MOST}

    def _line(self, labels: Labels, values: Mapping[str, list[float]], now: int) -> str:
        key = labels, tuple(values)
        head, tail = self._documents.get(key) or self._documents.setdefault(key, _document(*key))
        return f"{head}{now}{tail}{_encode(values)[1:]}\n"


def _document(labels: Labels, names: tuple[str, ...]) -> tuple[str, str]:
    """Let Powertools make a document, once: give what comes before its moment, and then before its values.

    All metrics of the same labels are in one document; those with the same sets of dimensions share a directive.
    """
    told = dict(labels)
    by_dimensions: defaultdict[tuple[tuple[str, ...], ...], list[str]] = defaultdict(list)
    for name in names:
        by_dimensions[tuple(one for one in METRICS[name].dimensions if told.keys() >= set(one))].append(name)
    made = [_made(some, dimensions, told) for dimensions, some in by_dimensions.items()]
    directives = [directive for one in made for directive in one.pop("_aws")["CloudWatchMetrics"]]
    said = {name: value for one in made for name, value in one.items() if name not in names}
    return f'{{"_aws":{{"CloudWatchMetrics":{_encode(directives)},"Timestamp":', f"}},{_encode(said)[1:-1]},"


def _made(names: list[str], dimensions: tuple[tuple[str, ...], ...], told: Mapping[str, str]) -> dict[str, Any]:
    metrics = EphemeralMetrics()
    first, *others = dimensions
    for dimension in first:
        metrics.add_dimension(dimension, told[dimension])
    for some in others:
        metrics.add_dimensions(service=str(metrics.service), **{dimension: told[dimension] for dimension in some})
    for name in names:
        metrics.add_metric(name, METRICS[name].unit, 0)
    return dict(metrics.serialize_metric_set())
