"""One event's bytes to a verdict. Pure: no clock, no network, no environment."""

from __future__ import annotations

from dataclasses import replace
from hashlib import sha256
from itertools import chain, islice
from typing import TYPE_CHECKING, cast

from adapter import facets, spec
from adapter.model import MAX_ERRORS, Code, FormatAssertion, Job, Rejected, RunEvent, Violation
from adapter.producers import fits
from adapter.size import MAX_EVENT_BYTES, too_large
from adapter.text import Parsed, parse

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping


def accept(
    raw: bytes, assertion: FormatAssertion = FormatAssertion.STRICT, namespaces: Collection[str] | None = None
) -> RunEvent | Rejected:
    """Judge one event as its emitter serialised it, decompressed. Never raises.

    In this order: at most 300,000 bytes (Amazon DataZone API reference, PostLineageEvent), strict UTF-8 and JSON
    (adapter.text), a RunEvent by what is there, then the OpenLineage 2-0-2 schema with its formats (adapter.spec),
    then a job namespace that fits one of the patterns `namespaces` (adapter.producers.fits), None for any. `assertion`
    decides whether a broken format refuses the event or comes along as a warning.
    """
    if len(raw) > MAX_EVENT_BYTES:
        return too_large(raw)
    parsed = parse(raw)
    if isinstance(parsed, Rejected):
        return parsed
    verdict = _unsupported_kind(parsed.event) or _judged(raw, parsed, assertion)
    if isinstance(verdict, RunEvent) and namespaces is not None and not fits(verdict.job.namespace, namespaces):
        verdict = _not_theirs()
    return replace(verdict, job=_whose(parsed.event)) if isinstance(verdict, Rejected) else verdict


def _whose(event: Mapping[str, object]) -> Job | None:
    """Read the job of an event that need not be valid, so that a refusal can be laid at somebody's door."""
    match event:
        case {"job": {"namespace": str(namespace), "name": str(name)}}:
            return Job(namespace, name)
    return None


def _unsupported_kind(event: Mapping[str, object]) -> Rejected | None:
    """Tell a DatasetEvent or JobEvent (OpenLineage 2-0-2) what it is, rather than what it lacks as a RunEvent."""
    if "run" in event:
        return None
    if "dataset" in event:
        kind = "DatasetEvent"
    elif "job" in event and "eventType" not in event:
        kind = "JobEvent"
    else:
        return None
    return Rejected(Code.UNSUPPORTED_KIND, f"a {kind}; DataZone takes run events only")


def _judged(raw: bytes, parsed: Parsed, assertion: FormatAssertion) -> RunEvent | Rejected:
    violations = spec.violations(parsed.event)
    lenient = assertion is FormatAssertion.WARN
    if violations and not (lenient and all(violation.rule == "format" for violation in violations)):
        return _violates(violations)
    warnings = chain(violations, facets.warnings(parsed.event))
    return _run_event(raw, parsed, tuple(islice(warnings, MAX_ERRORS)))


def _violates(violations: list[Violation]) -> Rejected:
    many = len(violations)
    shown = f", the first {MAX_ERRORS} of them shown" if many > MAX_ERRORS else ""
    detail = f"violates OpenLineage 2-0-2 in {many} place{'s' if many > 1 else ''}{shown}"
    return Rejected(Code.SCHEMA_VIOLATION, detail, tuple(violations[:MAX_ERRORS]))


def _not_theirs() -> Rejected:
    violation = Violation("/job/namespace", "namespace", "fits none of the namespaces that are this producer's")
    return Rejected(Code.NAMESPACE_NOT_ALLOWED, "the job's namespace is not one of this producer's", (violation,))


def _run_event(raw: bytes, parsed: Parsed, warnings: tuple[Violation, ...]) -> RunEvent:
    # The schema has just vouched for these shapes.
    run = cast("dict[str, str]", parsed.event["run"])
    job = cast("dict[str, str]", parsed.event["job"])
    return RunEvent(
        raw=raw,
        run_id=run["runId"],
        job=Job(job["namespace"], job["name"]),
        event_type=cast("str | None", parsed.event.get("eventType")),
        client_token=sha256(parsed.canonical.encode()).hexdigest(),
        warnings=warnings,
    )
