"""What the CloudWatch of a running system has counted, as its alarms would see it."""

from __future__ import annotations

import time
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cached_property
from typing import TYPE_CHECKING, Any

from local.system import client
from tests.integration.running import until

if TYPE_CHECKING:
    from tests.alarms.evaluation import Metric

# Longer than any fault takes, so that all that was counted of one is in one period.
_PERIOD = 3600


@dataclass
class Counted:
    """The AWS at `aws_url`, and the moment from which on things are counted."""

    aws_url: str
    began: float = 0.0

    def begin(self) -> None:
        """Count from now on; CloudWatch knows seconds."""
        self.began = float(int(time.time()) + 1)
        time.sleep(self.began - time.time())

    def seen(self, metric: Metric) -> float | None:
        """Read a metric back, from the beginning until now."""
        # moto compares dimensions in the order in which the functions say them: the service first.
        dimensions = sorted(metric.dimensions, key=lambda one: one[0] != "service")
        said = {
            "Metric": {
                "Namespace": metric.namespace,
                "MetricName": metric.name,
                "Dimensions": [{"Name": name, "Value": value} for name, value in dimensions],
            },
            "Period": _PERIOD,
            "Stat": metric.statistic,
        }
        answer = self._cloudwatch.get_metric_data(
            MetricDataQueries=[{"Id": "m", "MetricStat": said}],
            StartTime=datetime.fromtimestamp(self.began, UTC),
            EndTime=datetime.now(UTC) + timedelta(seconds=2),
        )
        values: list[float] = answer["MetricDataResults"][0]["Values"]
        return values[0] if values else None

    def wait_for(self, metric: Metric) -> None:
        """Wait until it has been counted."""
        until(lambda: self.seen(metric), 30)

    @cached_property
    def _cloudwatch(self) -> Any:  # noqa: ANN401 - boto3's clients have a type each
        return client("cloudwatch", self.aws_url)
