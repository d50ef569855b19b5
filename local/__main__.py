"""`make run`: the adapter and an AWS for it on this machine, in the foreground, until Ctrl-C.

    python -m local [Parameter=Value …]

PORT and AWS_PORT say where to listen; the parameters are template.yaml's. AUTH=on asks for a token, as a deployment
does, and prints one. QUEUE_SPEED=100 has the backlog's delays pass a hundred times as fast, SCHEDULE_SPEED=100 has what
is on a schedule come a hundred times as often. LOGS=raw shows the functions' own lines, metrics included.
"""

from __future__ import annotations

import os
import signal
import sys
import threading

from local import queues
from local.authorizers import UnknownAuthorizerError
from local.console import Console, Raw
from local.datazone.models import LOCAL_DOMAIN
from local.gateway import GatewayError
from local.resources import STACK, STREAM
from local.runtime import InitError
from local.server import PortTakenError
from local.system import PRODUCER, Ports, System
from local.template import TemplateError

DEFAULT_PORT = 8080
DEFAULT_AWS_PORT = 4566
_LAST_PORT = 65535
_GLANCE_SECONDS = 0.2

WELCOME = """\
OpenLineage events in, DataZone PostLineageEvent calls out: the adapter, and an AWS for it, on this machine.

  post an event   curl -sS {url}/api/v1/lineage -H 'Content-Type: application/json' \\
                       --data-binary @events/executor/complete.json
  a Python client transport: {{type: http, url: {url}}}    (in openlineage.yml)
  a stream        Kinesis stream {stream} in us-east-1, with AWS_ENDPOINT_URL={aws_url} and any credentials
{access}
  what arrived    boto3's list_lineage_events(domainIdentifier="{domain}"), with the same AWS_ENDPOINT_URL
  a bad day       curl -sS -X PUT {aws_url}/_faults -d '{{"rate": 0.3, "status": 429}}'    (-X DELETE ends it)

Ready: adapter on {url}, AWS on {aws_url}. Ctrl-C stops both.
"""


OPEN = """\
  OPEN            Nobody is asked who they are: whoever reaches {url} writes lineage under any name.
                  AUTH=on make run asks for a token, as a deployment does.\
"""
ASKS = """\
  a token         {token}
                  as `Authorization: Bearer …` or as a client's api_key; its producer, {producer}, may write to any job
                  namespace. More of them:
                  lineage-adapter token issue NAME --namespace GLOB --stack {stack} --endpoint-url {aws_url}\
"""


class UsageError(Exception):
    """What was asked for on the command line or in the environment makes no sense; the message says how it would."""


def main(arguments: list[str]) -> int:
    """Run until told to stop; give the exit status."""
    stop = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop.set())
    try:
        console = _console()
        system = _system(arguments, console)
    except (UsageError, TemplateError, GatewayError, UnknownAuthorizerError) as error:
        print(error, file=sys.stderr)
        return 1
    try:
        system.start()
        console.say(_welcome(system))
        # Not for ever: the kernel may hand a signal to any thread, and Python's handlers run when this one runs.
        while not stop.wait(_GLANCE_SECONDS):
            pass
        console.say("Stopping.")
    except InitError as error:
        print(error, file=sys.stderr)
        return 1
    finally:
        system.stop()
    return 0


def _welcome(system: System) -> str:
    told = {"url": system.url, "aws_url": system.aws_url, "stream": STREAM, "domain": LOCAL_DOMAIN}
    access = ASKS.format(token=system.token, producer=PRODUCER, stack=STACK, **told) if system.token else OPEN
    return WELCOME.format(access=access.format(**told), **told)


def _console() -> Console:
    match os.environ.get("LOGS", "short"):
        case "short":
            return Console(sys.stdout)
        case "raw":
            return Raw(sys.stdout)
    raise UsageError("LOGS must be short or raw")


def _access() -> dict[str, str]:
    given = os.environ.get("AUTH", "off")
    if given not in {"on", "off"}:
        raise UsageError("AUTH must be on or off")
    return {"Access": "tokens"} if given == "on" else {}


def _system(arguments: list[str], console: Console) -> System:
    ports = Ports(_port("PORT", DEFAULT_PORT), _port("AWS_PORT", DEFAULT_AWS_PORT))
    parameters = _access() | dict(_parameter(argument) for argument in arguments)
    queues.lighten()
    queues.hurry(_speed("QUEUE_SPEED"))
    try:
        return System(ports, parameters, console, _speed("SCHEDULE_SPEED"))
    except PortTakenError as error:
        variable = "PORT" if error.port == ports.adapter else "AWS_PORT"
        raise UsageError(f"{error}. Choose another one: {variable}={error.port + 1} make run") from error


def _port(variable: str, default: int) -> int:
    given = os.environ.get(variable, str(default))
    if not (given.isascii() and given.isdigit() and int(given) <= _LAST_PORT):
        raise UsageError(f"{variable} must be a port, 0 to {_LAST_PORT} (0 for any free one)")
    return int(given)


def _speed(variable: str) -> int:
    given = os.environ.get(variable, "1")
    if not (given.isascii() and given.isdigit() and int(given) > 0):
        raise UsageError(f"{variable} must be a whole number, 1 for the speed of AWS")
    return int(given)


def _parameter(argument: str) -> tuple[str, str]:
    name, equals, value = argument.partition("=")
    if not equals:
        raise UsageError(f"{argument}: parameters of template.yaml are given as Name=Value")
    return name, value


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
