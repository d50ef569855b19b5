"""The local clockwork invokes at the template's rate, and stops."""

from __future__ import annotations

from threading import Event

import pytest

from local.runtime import FunctionError
from local.schedule import Clockwork, seconds
from local.template import EventSource, TemplateError


@pytest.mark.parametrize(
    ("said", "meant"),
    [("rate(1 minute)", 60), ("rate(5 minutes)", 300), ("rate(1 day)", 86400)],
)
def test_a_rate_is_read(said: str, meant: int) -> None:
    assert seconds(EventSource("Pass", "Schedule", {"Schedule": said})) == meant


@pytest.mark.parametrize("said", ["cron(0 12 * * ? *)", "rate(0 minutes)", "rate(5)", ""])
def test_what_is_not_understood_is_an_error(said: str) -> None:
    with pytest.raises(TemplateError, match="Pass"):
        seconds(EventSource("Pass", "Schedule", {"Schedule": said}))


def test_it_goes_on_after_an_invocation_that_failed_and_stops_when_told() -> None:
    twice = Event()
    given: list[object] = []

    def invoke(event: object) -> object:
        given.append(event)
        if len(given) == 2:
            twice.set()
        raise FunctionError("on purpose")

    clockwork = Clockwork(0.01, invoke)
    clockwork.start()
    assert twice.wait(5)
    clockwork.stop()
    count = len(given)
    assert not Event().wait(0.05)
    assert len(given) == count
    assert {"detail-type", "time", "resources"} <= set(given[0])  # type: ignore[call-overload]  # a dict
