"""A running system, good days and bad ones for it, and what CloudWatch has counted of them.

It runs in this process, so that what waits can be older than it is.
"""

from __future__ import annotations

import os
import time
from contextlib import contextmanager
from functools import cached_property
from typing import TYPE_CHECKING, Any

import httpx
from moto.sqs.models import sqs_backends

from cli import producers
from local.account import ACCOUNT, REGION
from local.resources import STACK
from local.system import System, client
from tests.alarms.counted import Counted
from tests.alarms.evaluation import Metric
from tests.fakes import run_event
from tests.integration.running import processes, until

if TYPE_CHECKING:
    from collections.abc import Iterator

    from moto.sqs.models import Message


def ours(name: str, **dimensions: str) -> Metric:
    """Name a sum of the functions' own."""
    return Metric("LineageAdapter", name, frozenset({"service": STACK, **dimensions}.items()), "Sum")


COMPLETE = ours("ReconcileComplete")


class Bench(Counted):
    """A system that asks for tokens."""

    def __init__(self, system: System) -> None:
        super().__init__(system.aws_url)
        self.system = system

    def settle(self) -> None:
        """Wait until reconciliation has come by, and what was counted until now has arrived."""
        until(lambda: self.seen(COMPLETE), 30)
        time.sleep(0.5)

    def post(self, body: bytes, token: str | None = None, path: str = "/api/v1/lineage") -> int:
        """Post with the good token or another one; give the status."""
        headers = {"Authorization": f"Bearer {token or self.system.token}"}
        return httpx.post(f"{self.system.url}{path}", content=body, headers=headers, timeout=35).status_code

    def good(self, run: int = 1) -> None:
        """Post an event that is delivered."""
        assert self.post(run_event(run)) == 200

    @contextmanager
    def fault(self, service: str, **what: object) -> Iterator[None]:
        """Have a service fail for a while."""
        url = f"{self.system.aws_url}/_faults"
        httpx.put(url, json={"service": service, **what}).raise_for_status()
        try:
            yield
        finally:
            httpx.delete(url).raise_for_status()

    def client(self, service: str) -> Any:  # noqa: ANN401 - boto3's clients have a type each
        """Make a client of one of its services."""
        return client(service, self.system.aws_url)

    def sandboxes(self, door: str) -> list[int]:
        """Give the processes of a function."""
        mine = (one for one in processes() if one.parent == os.getpid())
        return [one.pid for one in mine if f"adapter.handlers.{door}.handler" in one.command]

    @cached_property
    def outputs(self) -> dict[str, str]:
        """Give the stack's outputs."""
        (stack,) = self.client("cloudformation").describe_stacks(StackName=STACK)["Stacks"]
        return {one["OutputKey"]: one["OutputValue"] for one in stack["Outputs"]}

    @cached_property
    def expired(self) -> str:
        """Give a token that is over."""
        secret = producers.Secret(self.client("secretsmanager"), self.outputs["ProducersSecretArn"])
        return secret.issue("yesterday", ("*",), 0)

    @contextmanager
    def waiting(self, body: str) -> Iterator[Message]:
        """Have a message in the backlog that is not to be received yet, and leave no message anywhere."""
        url = self.outputs["BacklogUrl"]
        self.client("sqs").send_message(QueueUrl=url, MessageBody=body, DelaySeconds=900)
        try:
            yield next(one for one in self._messages("BacklogUrl") if one.body == body)
        finally:
            self._messages("BacklogUrl").clear()
            self._messages("DeadLetterUrl").clear()

    def _messages(self, queue: str) -> list[Message]:
        name = self.outputs[queue].rpartition("/")[2]
        return sqs_backends[ACCOUNT][REGION].get_queue(name)._messages  # noqa: SLF001 - to make one older than it is
