"""CloudWatch's alarms as far as template.yaml uses them: a metric or an expression, held against a threshold.

Source: Amazon CloudWatch user guide, "Using Amazon CloudWatch alarms" and "Using math expressions with CloudWatch
metrics". What was seen stands for each of an alarm's periods, as if it lasted for as long as the alarm looks.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from local import resources, template
from local.system import PARAMETERS, TEMPLATE

if TYPE_CHECKING:
    from local.template import Template

# "Alarms based on metric math expressions can reference a maximum of 10 metrics" (the same guide, "Limits").
MOST_METRICS = 10

# Read once: a template takes half a second.
_DOCUMENT = template.read(TEMPLATE, PARAMETERS, resources.PSEUDO_PARAMETERS).document
_COMPARISONS: Mapping[str, Callable[[float, float], bool]] = {
    "GreaterThanThreshold": operator.gt,
    "LessThanThreshold": operator.lt,
}


@dataclass(frozen=True, slots=True)
class Metric:
    """A metric and how its values are put together: Sum, Maximum or SampleCount."""

    namespace: str
    name: str
    dimensions: frozenset[tuple[str, str]]
    statistic: str


# Gives what a metric says, None where it has no data.
type Seen = Callable[[Metric], float | None]


@dataclass(frozen=True, slots=True)
class Alarm:
    """An alarm of the template, all that is in it resolved."""

    name: str
    properties: Mapping[str, Any]

    def metrics(self) -> list[Metric]:
        """Give what it looks at."""
        if "Metrics" not in self.properties:
            return [_metric(self.properties, self.properties["Statistic"])]
        stats = [one["MetricStat"] for one in self.properties["Metrics"] if "MetricStat" in one]
        return [_metric(stat["Metric"], stat["Stat"]) for stat in stats]

    def fires(self, seen: Seen) -> bool:
        """Say whether it goes off, having been OK."""
        value = self._value(seen)
        if value is None:
            return bool(self.properties["TreatMissingData"] == "breaching")
        return _COMPARISONS[self.properties["ComparisonOperator"]](value, float(self.properties["Threshold"]))

    def _value(self, seen: Seen) -> float | None:
        if "Metrics" not in self.properties:
            return seen(*self.metrics())
        (watched,) = (one for one in self.properties["Metrics"] if one.get("ReturnData", True))
        return _Math(self.properties["Metrics"], seen).value(watched["Id"])


def deployed(**parameters: str) -> Template:
    """Give the template as a local system with these `parameters` has it."""
    read = template.of(_DOCUMENT, {**PARAMETERS, **parameters}, resources.PSEUDO_PARAMETERS)
    return resources.named(read, "http://aws")


def alarms(**parameters: str) -> dict[str, Alarm]:
    """Give its alarms, by logical id."""
    there = deployed(**parameters)
    found = there.resources("AWS::CloudWatch::Alarm")
    return {name: Alarm(name, there.resolve(properties, name)) for name, properties in found.items()}


def _metric(said: Mapping[str, Any], statistic: str) -> Metric:
    dimensions = frozenset((one["Name"], str(one["Value"])) for one in said["Dimensions"])
    return Metric(said["Namespace"], said["MetricName"], dimensions, statistic)


class _Math:
    """Metric math over one period. As far as it is used here, its syntax is Python's."""

    def __init__(self, queries: Sequence[Mapping[str, Any]], seen: Seen) -> None:
        self._queries = {one["Id"]: one for one in queries}
        self._seen = seen

    def value(self, name: str) -> float | None:
        """Give the value of the metric or expression with the Id `name`; arithmetic without data has none."""
        query = self._queries[name]
        if "MetricStat" in query:
            return self._seen(_metric(query["MetricStat"]["Metric"], query["MetricStat"]["Stat"]))
        functions = {"FILL": _fill, "IF": _if, "MAX": _max, "METRICS": self._metrics, "SUM": _sum}
        used = {one: self.value(one) for one in re.findall(r"\b[a-z]\w*", query["Expression"]) if one in self._queries}
        try:
            # ruff's S307: what is evaluated is template.yaml's.
            return eval(query["Expression"], {"__builtins__": {}}, {**functions, **used})  # type: ignore[no-any-return]  # noqa: S307
        except (TypeError, ZeroDivisionError):
            return None

    def _metrics(self, part: str = "") -> list[float | None]:
        return [self.value(name) for name, one in self._queries.items() if "MetricStat" in one and part in name]


def _fill(value: Any, otherwise: float) -> Any:  # noqa: ANN401 - one value or several
    if isinstance(value, list):
        return [_fill(one, otherwise) for one in value]
    return otherwise if value is None else value


def _if(condition: object, then: Any, otherwise: Any) -> Any:  # noqa: ANN401 - as above
    return then if condition else otherwise


def _present(values: Sequence[float | None]) -> Iterator[float]:
    return (value for value in values if value is not None)


def _sum(values: Sequence[float | None]) -> float:
    return sum(_present(values))


def _max(values: Sequence[float | None]) -> float | None:
    return max(_present(values), default=None)
