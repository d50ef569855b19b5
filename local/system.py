"""The whole adapter on one machine: the template's functions behind their doors, and the AWS they need."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import boto3
from botocore.config import Config

from cli import producers
from local import authorizers, gateway, mapping, resources, schedule, sqs, template, vitals
from local.account import ACCESS_KEY, ACCOUNT, REGION, SECRET_KEY
from local.aws import Aws
from local.console import Console, Trouble
from local.datazone.models import LOCAL_DOMAIN
from local.destination import Bucket, Loud
from local.functions import Functions
from local.metrics import Metrics
from local.runtime import Program, Runtime
from local.schedule import Clockwork
from local.server import Server
from local.sqs import QueuePoller
from local.stream import StreamPoller

if TYPE_CHECKING:
    from collections.abc import Mapping

    from local.mapping import StreamMapping
    from local.template import EventSource, Function

TEMPLATE = Path(__file__).parents[1] / "template.yaml"

# What differs from a first deployment: the domain is the one here, there is a stream, of two shards, and nobody is
# asked for a token.
PARAMETERS = {"DomainId": LOCAL_DOMAIN, "EnableStream": "true", "StreamShards": "2", "Access": "open"}

# The producer that may write under any job namespace, where somebody is asked for a token.
PRODUCER = "local"
_SECRET = "Producers"  # noqa: S105 - what the template calls it

# Requests that the HTTP function answers at the same time; Lambda has more, a machine has not.
HTTP_SANDBOXES = 8
# Longer than a door takes to answer.
_STOP_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class Ports:
    """Where to listen; 0 for any free port."""

    adapter: int
    aws: int


class System:
    """Everything `make run` runs."""

    def __init__(self, ports: Ports, parameters: Mapping[str, str], console: Console, speed: float = 1.0) -> None:
        """Take the ports and read the template; `parameters` are the template's, on top of PARAMETERS.

        Schedules, and the numbers of queues in CloudWatch, come `speed` times as often.

        Raises PortTakenError, TemplateError, GatewayError and UnknownAuthorizerError. Nothing runs before `start`.
        """
        read = template.read(TEMPLATE, {**PARAMETERS, **parameters}, resources.PSEUDO_PARAMETERS)
        self._console = console
        self._speed = speed
        self._aws = Aws(ports.aws)
        self._template = resources.named(read, self.aws_url)
        self._metrics = Metrics(self._client("cloudwatch"), Trouble(console.say, "CloudWatch"))
        self._functions = self._template.functions()
        self._vitals = {one.logical_id: vitals.FunctionVitals(one.name, self._metrics) for one in self._functions}
        self._runtimes = {function.logical_id: self._runtime(function) for function in self._functions}
        pairs = [(function, self._runtimes[function.logical_id]) for function in self._functions]
        guards = authorizers.authorizers(self._template, lambda name: self._runtimes[name].invoke)
        routes = gateway.guarded(gateway.routes(pairs), guards)
        self._server = Server(ports.adapter, gateway.Gateway(routes), gateway.MAX_BODY)
        self._token: str | None = None
        self._asks = bool(guards)
        self._pollers: list[StreamPoller | QueuePoller | Clockwork] = []

    @property
    def url(self) -> str:
        """Where events are posted."""
        return self._server.url

    @property
    def aws_url(self) -> str:
        """Where AWS is: AWS_ENDPOINT_URL."""
        return self._aws.server.url

    @property
    def token(self) -> str | None:
        """The token of PRODUCER, once it is started; None if nobody is asked for one."""
        return self._token

    def start(self) -> None:
        """Come up; when this returns, everything answers. Raises InitError when a function does not come up."""
        self._aws.server.start()
        with ThreadPoolExecutor() as starting:
            warming = [starting.submit(runtime.warm) for runtime in self._runtimes.values()]
            services = ("kinesis", "sqs", "s3", "secretsmanager")
            resources.create(self._template, *(self._client(service) for service in services))
            resources.create_alarms(self._template, self._client("cloudwatch"))
        self._aws.stack = resources.stack(self._template, self.url)
        self._aws.functions = Functions(self._functions)
        if self._asks:
            secret = producers.Secret(self._client("secretsmanager"), self._template.physical[_SECRET].ref)
            self._token = secret.issue(PRODUCER, ("*",))
        self._metrics.start()
        for warm in warming:
            warm.result()
        self._pollers = [
            poller
            for function in self._functions
            for source in function.events
            if (poller := self._poller(function, source))
        ]
        self._pollers.append(Clockwork(vitals.MINUTE / self._speed, self._look_at_queues))
        for poller in self._pollers:
            poller.start()
        self._server.start()

    def stop(self) -> None:
        """Take nothing more, let what runs end, and leave no process behind."""
        self._server.stop()
        for poller in self._pollers:
            poller.stop()
        with ThreadPoolExecutor() as stopping:
            for runtime in self._runtimes.values():
                stopping.submit(runtime.stop, _STOP_SECONDS)
        self._metrics.stop()
        self._aws.server.stop()

    def _runtime(self, function: Function) -> Runtime:
        program = Program(function.name, function.handler, function.timeout, self._environment(function))
        told = self._vitals[function.logical_id]
        return Runtime(program, _sandboxes(function), lambda line: self._logged(function, line), told)

    def _look_at_queues(self, _: object) -> None:
        queues = (self._template.physical[name] for name in self._template.resources("AWS::SQS::Queue"))
        vitals.of_queues((queue.attributes["QueueName"] for queue in queues), self._metrics)

    def _logged(self, function: Function, line: str) -> None:
        self._console.log(function.logical_id, line)
        self._metrics.log(line)

    def _environment(self, function: Function) -> dict[str, str]:
        """Give what Lambda sets (developer guide, "Defined runtime environment variables") and the template's own."""
        return {
            "AWS_ENDPOINT_URL": self.aws_url,
            "AWS_ACCESS_KEY_ID": ACCESS_KEY,
            "AWS_SECRET_ACCESS_KEY": SECRET_KEY,
            "AWS_REGION": REGION,
            "AWS_DEFAULT_REGION": REGION,
            # What this machine's user has configured for AWS is no business of a function.
            "AWS_CONFIG_FILE": "/dev/null",
            "AWS_SHARED_CREDENTIALS_FILE": "/dev/null",
            "AWS_EXECUTION_ENV": "AWS_Lambda_python3.13",
            "AWS_LAMBDA_FUNCTION_NAME": function.name,
            "AWS_LAMBDA_FUNCTION_VERSION": "$LATEST",
            "AWS_LAMBDA_FUNCTION_MEMORY_SIZE": str(function.memory),
            "AWS_LAMBDA_FUNCTION_ARN": f"arn:aws:lambda:{REGION}:{ACCOUNT}:function:{function.name}",
            "AWS_LAMBDA_INITIALIZATION_TYPE": "on-demand",
            "AWS_LAMBDA_LOG_GROUP_NAME": f"/aws/lambda/{function.name}",
            "AWS_LAMBDA_LOG_STREAM_NAME": "local",
            "_HANDLER": function.handler,
            "LANG": "C.UTF-8",
            "TZ": ":UTC",
            **function.environment,
        }

    def _poller(self, function: Function, source: EventSource) -> StreamPoller | QueuePoller | Clockwork | None:
        invoke = self._runtimes[function.logical_id].invoke
        match source.type:
            case "Kinesis":
                settings = mapping.mapping(source)
                lost = Loud(self._console.say, self._bucket(settings, function))
                trouble = Trouble(self._console.say, "Kinesis")
                aging = self._vitals[function.logical_id].of_stream(invoke)
                return StreamPoller(settings, self._client("kinesis"), aging, lost, trouble)
            case "SQS":
                queue = sqs.mapping(source)
                trouble = Trouble(self._console.say, "SQS")
                return QueuePoller(queue, self._queue_url(queue.queue_arn), self._client("sqs"), invoke, trouble)
            case "Schedule":
                return Clockwork(schedule.seconds(source) / self._speed, invoke)
            case _:
                return None

    def _bucket(self, settings: StreamMapping, function: Function) -> Bucket | None:
        if settings.destination is None:
            return None
        return Bucket(self._client("s3"), settings.destination, settings.stream_arn, function.name)

    def _queue_url(self, arn: str) -> str:
        return next(one.ref for one in self._template.physical.values() if one.attributes.get("Arn") == arn)

    def _client(self, service: str) -> Any:  # noqa: ANN401 - boto3's clients have a type each
        return client(service, self.aws_url)


def client(service: str, url: str) -> Any:  # noqa: ANN401 - boto3's clients have a type each
    """Make a boto3 client of the AWS at `url`."""
    return boto3.client(
        cast("Any", service),
        region_name=REGION,
        endpoint_url=url,
        aws_access_key_id=ACCESS_KEY,
        aws_secret_access_key=SECRET_KEY,
        # A busy machine takes its time, above all for the first request to a service.
        config=Config(connect_timeout=2, read_timeout=60, retries={"mode": "standard", "total_max_attempts": 1}),
    )


def _sandboxes(function: Function) -> int:
    """Say how many invocations there can be at the same time: of a poller as many as it makes."""
    polled = 0
    for source in function.events:
        match source.type:
            case "Kinesis":
                # A shard has a lane for each; there are few shards here.
                polled += 4 * mapping.mapping(source).parallelization
            case "SQS":
                polled += sqs.mapping(source).concurrency
            case "Schedule":
                polled += 1
            case _:
                pass
    return polled or HTTP_SANDBOXES
