"""What becomes metrics of CloudWatch: the functions' embedded metric format, and what AWS counts itself.

Source: Amazon CloudWatch user guide, "Specification: Embedded metric format". What came in the same second is put
together, as in CloudWatch itself.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import batched
from queue import Empty, SimpleQueue
from threading import Event, Thread
from typing import TYPE_CHECKING, Any

from botocore.exceptions import BotoCoreError, ClientError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from local.console import Trouble

# Seconds for which metrics are gathered before they are put, and how many one request takes (Amazon CloudWatch API
# reference, PutMetricData).
_GATHERED = 0.2
_MOST = 1000

# What CloudWatch takes without its being said.
_NO_UNIT = "None"


@dataclass(frozen=True, slots=True)
class Datum:
    """Values of one metric, in one second (since 1970)."""

    namespace: str
    name: str
    dimensions: tuple[tuple[str, str], ...]
    unit: str
    second: int


def data(line: str) -> Iterator[tuple[Datum, float]]:
    """Yield each value that a line of a log says in embedded metric format, once for each set of its dimensions."""
    if '"_aws"' not in line:
        return
    said = _object(line)
    about = said.get("_aws", {})
    for directive in about.get("CloudWatchMetrics", ()):
        for metric in directive["Metrics"]:
            values = said[metric["Name"]]
            for names in directive["Dimensions"]:
                dimensions = tuple((name, str(said[name])) for name in names)
                datum = Datum(
                    directive["Namespace"],
                    metric["Name"],
                    dimensions,
                    metric.get("Unit", _NO_UNIT),
                    about["Timestamp"] // 1000,
                )
                yield from ((datum, float(value)) for value in (values if isinstance(values, list) else [values]))


def _object(line: str) -> dict[str, Any]:
    try:
        said = json.loads(line)
    except ValueError:
        return {}
    return said if isinstance(said, dict) else {}


class Metrics:
    """Puts what the functions say into CloudWatch, in a thread of its own."""

    def __init__(self, client: Any, trouble: Trouble) -> None:  # noqa: ANN401 - boto3's clients have a type each
        """Put it through `client`."""
        self._client = client
        self._trouble = trouble
        self._said: SimpleQueue[str | tuple[Datum, float]] = SimpleQueue()
        self._stop = Event()
        self._thread = Thread(target=self._run, name="metrics", daemon=True)

    def start(self) -> None:
        """Begin to put."""
        self._thread.start()

    def stop(self) -> None:
        """Put what there is, and no more."""
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join()

    def log(self, line: str) -> None:
        """Take a line of a function's log, metrics or not."""
        self._said.put(line)

    def put(self, datum: Datum, value: float) -> None:
        """Take a value that AWS itself counts."""
        self._said.put((datum, value))

    def _run(self) -> None:
        while not self._stop.wait(_GATHERED):
            self._put()
        self._put()

    def _put(self) -> None:
        gathered: defaultdict[str, defaultdict[Datum, Counter[float]]] = defaultdict(lambda: defaultdict(Counter))
        for said in self._waiting():
            for datum, value in data(said) if isinstance(said, str) else [said]:
                gathered[datum.namespace][datum][value] += 1
        try:
            for namespace, values in gathered.items():
                for some in batched(values.items(), _MOST, strict=False):
                    self._client.put_metric_data(Namespace=namespace, MetricData=[_metric(*one) for one in some])
            self._trouble.over()
        except (BotoCoreError, ClientError) as error:
            self._trouble.seen(error)

    def _waiting(self) -> Iterator[str | tuple[Datum, float]]:
        try:
            while True:
                yield self._said.get_nowait()
        except Empty:
            return


def _metric(datum: Datum, values: Mapping[float, int]) -> dict[str, Any]:
    return {
        "MetricName": datum.name,
        "Dimensions": [{"Name": name, "Value": value} for name, value in datum.dimensions],
        "Unit": datum.unit,
        "Timestamp": datetime.fromtimestamp(datum.second, UTC),
        "Values": list(values),
        "Counts": [float(count) for count in values.values()],
    }
