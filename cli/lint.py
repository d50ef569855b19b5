"""`lineage-adapter lint`: what the adapter would say of events, and which of their facets nobody would read."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

import click

from adapter import facets
from adapter.accept import accept
from adapter.model import FormatAssertion, Rejected, RunEvent, Violation
from adapter.text import Parsed, parse
from cli import sources
from cli.report import printable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cli.sources import Item


@dataclass(frozen=True, slots=True)
class Finding:
    """The verdict on one event; `warnings` are what is wrong with it and not the adapter's business."""

    name: str
    verdict: RunEvent | Rejected
    warnings: tuple[Violation, ...]


@click.command(epilog="Exit status: 0 all accepted, 1 some rejected, 2 wrong usage.")
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@click.option(
    "--formats",
    type=click.Choice([assertion.value for assertion in FormatAssertion]),
    default=FormatAssertion.STRICT.value,
    show_default=True,
    help="What a broken date-time, URI or UUID costs: the event, or a warning (the stack's FormatAssertion).",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per event.")
@click.pass_context
def lint(context: click.Context, /, paths: tuple[str, ...], formats: str, *, as_json: bool) -> None:
    """Say what the adapter would make of events, without sending them.

    PATH is a file with one event (.json) or one event a line (.ndjson, .jsonl), either of them gzipped (.gz), a folder
    of such files, or - for standard input with one event a line.

    An event is accepted, under its client token, or rejected, with the code and the errors of the adapter's answer.
    Warnings are about facets in a wrong place or shape: they would be delivered, and nobody would read them.
    """
    counts: Counter[str] = Counter()
    for item in sources.read(paths):
        finding = judge(item, FormatAssertion(formats))
        click.echo(as_object(finding) if as_json else "\n".join(as_lines(finding)))
        counts["rejected" if isinstance(finding.verdict, Rejected) else "accepted"] += 1
        counts["warnings"] += len(finding.warnings)
    if not as_json:
        click.echo(", ".join(f"{name} {counts[name]}" for name in ("accepted", "rejected", "warnings")))
    context.exit(1 if counts["rejected"] else 0)


def judge(item: Item, assertion: FormatAssertion = FormatAssertion.STRICT) -> Finding:
    """Ask the adapter's own judgement, and look at the facets of whatever can be parsed."""
    verdict = accept(item.raw, assertion)
    if isinstance(verdict, RunEvent):
        return Finding(item.name, verdict, verdict.warnings)
    parsed = parse(item.raw)
    return Finding(item.name, verdict, tuple(facets.warnings(parsed.event)) if isinstance(parsed, Parsed) else ())


def as_lines(finding: Finding) -> Iterator[str]:
    """Show a finding to a person: the verdict, and a line for each error and warning."""
    name = printable(finding.name)
    match finding.verdict:
        case RunEvent(client_token=client_token):
            yield f"{name}: accepted, client token {client_token}"
        case Rejected(code=code, detail=detail, errors=errors):
            yield f"{name}: rejected, {code}: {detail}"
            yield from (_line("error", error) for error in errors)
    yield from (_line("warning", warning) for warning in finding.warnings)


def _line(kind: str, violation: Violation) -> str:
    return f"  {kind}: {printable(violation.path) or 'the event'} {violation.message} ({violation.rule})"


def as_object(finding: Finding) -> str:
    """Show a finding to a machine: a JSON object in one line."""
    match finding.verdict:
        case RunEvent(client_token=client_token):
            verdict: dict[str, object] = {"outcome": "accepted", "clientToken": client_token}
        case Rejected(code=code, detail=detail, errors=errors):
            listed = [asdict(error) for error in errors]
            verdict = {"outcome": "rejected", "code": code.value, "detail": detail, "errors": listed}
    return json.dumps({"name": finding.name} | verdict | {"warnings": [asdict(one) for one in finding.warnings]})
