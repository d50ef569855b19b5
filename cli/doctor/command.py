"""`lineage-adapter doctor`: looks at everything a deployment is made of, then sends an event all the way through.

Nothing is changed but by the canary, which is written into the catalog.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING

import click
import httpx

from cli import aws, options
from cli.address import EVENT_PATH, api_key_option, endpoint
from cli.doctor import canary, emitters, keeping, working
from cli.doctor.canary import Patience, Place
from cli.doctor.deployment import Deployment, described
from cli.doctor.door import ACCESS, PATIENCE, TOKEN, Door
from cli.doctor.emitters import Target
from cli.doctor.finding import Check, Finding, State, examined, exit_status, failed, ok, skipped
from cli.report import printable

if TYPE_CHECKING:
    from collections.abc import Iterator

_WAIT = 120


def _url(_: click.Context, __: click.Parameter, value: str | None) -> str | None:
    return None if value is None else _base(value)


def _base(url: str) -> str:
    try:
        whole = endpoint(url)
    except ValueError as error:
        raise click.BadParameter(f"{error}.") from None
    if not whole.endswith(EVENT_PATH):
        raise click.BadParameter("emitters are given the address without a path, and so is doctor.")
    return whole.removesuffix(EVENT_PATH)


def _namespace(_: click.Context, __: click.Parameter, value: str) -> str:
    try:
        canary.event(value)
    except ValueError as error:
        raise click.BadParameter(f"{error}.") from None
    return value


@dataclass(frozen=True, slots=True)
class Asked:
    """What was typed. `url` has no path."""

    stack: str | None
    url: str | None
    api_key: str | None = field(repr=False)
    canary: bool
    namespace: str
    wait: int
    endpoint_url: str | None


@dataclass(slots=True)
class Examination:
    """What is looked at; its deployment and its door are known once they have been found."""

    asked: Asked
    client: httpx.Client
    deployment: Deployment | None = None
    door: Door | None = None

    def checks(self) -> Iterator[Check]:
        """Give everything to look at, in its order; one after the other, since what is found says what is next."""
        yield Check("credentials", self._credentials)
        yield Check("stack", self._stack, ("credentials",) if self.asked.stack else ())
        self.door = door = self._found_door()
        if door:
            yield from door.checks()
        if self.asked.stack and self.deployment:
            yield from keeping.checks(self.asked.stack, self.deployment, self.asked.endpoint_url)
            yield from working.checks(self.asked.stack, self.deployment, self.asked.endpoint_url)
        if door:
            yield Check("canary", lambda: self._canary(door), (TOKEN if door.asks else ACCESS,))

    def target(self) -> Target | None:
        """Say what emitters are to be configured for; None where no address is known."""
        return Target(self.door.url, self.door.asks is not False) if self.door else None

    def _credentials(self) -> Finding:
        try:
            with aws.explained("STS"):
                caller = aws.client("sts", self.asked.endpoint_url).get_caller_identity()
        except aws.UnseenError as error:
            if self.asked.stack:
                raise
            return skipped(f"none are needed for an address alone ({error.message})")
        return ok(f"{caller['Arn']} in account {caller['Account']}")

    def _stack(self) -> Finding:
        if self.asked.stack is None:
            return skipped("none is named, so what is behind the address is not looked at", "--stack NAME")
        found = described(self.asked.stack, self.asked.endpoint_url)
        if "Url" not in found.outputs and found.finding().state is State.OK:
            return failed("it has no output Url", "is it the adapter's? check --stack")
        # One that was never made has no outputs, and nothing in it to look at.
        self.deployment = found if "Url" in found.outputs else None
        return found.finding()

    def _found_door(self) -> Door | None:
        deployment = self.deployment
        url = self.asked.url or (_emitters_url(deployment) if deployment else None)
        access = deployment.parameters.get("Access") if deployment else None
        return Door(self.client, url, self.asked.api_key, access) if url else None

    def _canary(self, door: Door) -> Finding:
        if not self.asked.canary:
            return skipped("not wanted")
        outputs = self.deployment.outputs if self.deployment else {}
        place = Place(self.asked.stack, outputs.get("DomainId"), outputs.get("DomainRegion"), self.asked.endpoint_url)
        patience = Patience(self.asked.wait, lambda text: click.echo(f"  {text}", err=True))
        return canary.look(door, place, self.asked.namespace, patience)


def _emitters_url(deployment: Deployment) -> str:
    """Give the address that the public, or, if that is turned off, the private API has."""
    private = deployment.parameters.get("PublicEndpoint") == "disabled" and not deployment.parameters.get("HostName")
    return deployment.output("PrivateUrl" if private and "PrivateUrl" in deployment.outputs else "Url")


@click.command(
    epilog="Exit status: 0 nothing is broken, 1 something is, 2 something could not be looked at (or wrong usage)."
)
@click.option("--stack", metavar="NAME", help="The adapter's CloudFormation stack; everything in it is looked at.")
@click.option(
    "--url", callback=_url, help="The adapter's address, as emitters have it; by default the stack's output Url."
)
@api_key_option
@click.option("--canary/--no-canary", default=True, help="Whether to post an event and follow it; default: yes.")
@click.option(
    "--namespace",
    default=canary.NAMESPACE,
    callback=_namespace,
    show_default=True,
    metavar="JOB_NAMESPACE",
    help="The job namespace of the canary, which will be seen in the catalog as a run of the job `canary`.",
)
@click.option(
    "--wait",
    type=click.IntRange(1, 3600),
    default=_WAIT,
    show_default=True,
    metavar="SECONDS",
    help="How long to follow the canary.",
)
@click.option("--emitters/--no-emitters", "with_emitters", default=True, help="Whether to print their configuration.")
@aws.endpoint_url_option
@click.option("--json", "as_json", is_flag=True, help="Print all of it as one JSON object.")
@click.pass_context
def doctor(context: click.Context, /, *, with_emitters: bool, as_json: bool, **given: object) -> None:
    """Look at everything that a deployment is made of, send an event through it, and say what to do where it fails.

    Only the canary writes anything: a run of the job `canary`, which will be seen in the catalog.
    """
    asked = options.pick(Asked, given)
    if not (asked.stack or asked.url):
        raise click.UsageError("name the adapter's stack with --stack, or its address with --url")
    with _client() as client:
        examination = Examination(asked, client)
        found = _told(examination, as_json=as_json)
    target = examination.target() if with_emitters else None
    status = exit_status(found.values())
    if as_json:
        url = examination.door.url if examination.door else None
        about = {"exit_status": status, "url": url}
        click.echo(json.dumps(about | _object(found, target), indent=2))
    else:
        _print_emitters(target)
        click.echo(_summary(found))
    context.exit(status)


def _client() -> httpx.Client:
    try:
        return httpx.Client(headers={"User-Agent": "lineage-adapter"}, timeout=PATIENCE)
    except (OSError, ValueError, ImportError, httpx.InvalidURL):
        # httpx reads these variables, and its errors may hold a proxy's password.
        raise aws.AwsError("the environment's SSL_CERT_FILE, SSL_CERT_DIR or proxy settings cannot be used") from None


def _told(examination: Examination, *, as_json: bool) -> dict[str, Finding]:
    """Look at everything, and print each finding when it is there."""
    found: dict[str, Finding] = {}
    for name, finding in examined(examination.checks()):
        found[name] = finding
        if not as_json:
            _print(name, finding)
    return found


def _print(name: str, finding: Finding) -> None:
    click.echo(f"{finding.state:<13}  {name:<15}{printable(finding.said)}")
    if finding.to_do:
        click.echo(f"{'':<15}{'':<15}-> {printable(finding.to_do)}")


def _print_emitters(target: Target | None) -> None:
    for one in emitters.configurations(target) if target else ():
        click.echo(f"\n# {one.emitter} (docs/emitters/{one.page}.md): into {one.goes_into}\n{one.text}", nl=False)
    if target:
        click.echo()


def _summary(found: dict[str, Finding]) -> str:
    by_state = {state: [name for name, finding in found.items() if finding.state is state] for state in State}
    counts = ", ".join(f"{len(names)} {state}" for state, names in by_state.items() if names)
    if broken := by_state[State.FAILED]:
        return f"Broken: {', '.join(broken)} ({counts})"
    if unseen := by_state[State.NOT_LOOKED_AT]:
        return f"Nothing seen to be broken, but not looked at: {', '.join(unseen)} ({counts})"
    return f"Nothing is broken ({counts})"


def _object(found: dict[str, Finding], target: Target | None) -> dict[str, object]:
    return {
        "checks": [{"name": name, **asdict(finding)} for name, finding in found.items()],
        "emitters": [asdict(one) for one in emitters.configurations(target)] if target else [],
    }
