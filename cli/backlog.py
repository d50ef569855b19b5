"""`lineage-adapter backlog`: how much waits, and another go for what all tries could not deliver.

`redrive` moves the messages itself and does not leave it to SQS (StartMessageMoveTask): moto, on which the local system
stands, does not have that, and what is typed on a bad day should have been tried before. It needs the permissions that
such a task needs on the two queues (ReceiveMessage, DeleteMessage; SendMessage), and a machine that stays connected. A
message is deleted only after its copy is on the backlog, so an interruption leaves it in at least one of the queues;
one that is in both is delivered twice under the same token, which DataZone knows.
"""

from __future__ import annotations

import json
import shlex
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from threading import Event, Lock
from typing import TYPE_CHECKING

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeRemainingColumn

from cli import aws, options
from cli.sending import INTERRUPTED

if TYPE_CHECKING:
    from collections.abc import Callable

    from mypy_boto3_sqs import SQSClient
    from mypy_boto3_sqs.literals import QueueAttributeNameType
    from mypy_boto3_sqs.type_defs import MessageAttributeValueTypeDef, MessageTypeDef

# Seconds that a received dead letter has to be moved in; if it is not, it is in its queue again.
_VISIBILITY = 300
# Seconds to wait for a message: without, SQS asks only some of its servers, and finding nothing means little.
_WAIT = 2
_MOVERS = 8
# The metric comes each minute for a queue that is in use (Amazon SQS developer guide, "Available CloudWatch metrics").
_METRIC_MINUTES = 10

_NUMBERS: tuple[QueueAttributeNameType, ...] = (
    "ApproximateNumberOfMessages",
    "ApproximateNumberOfMessagesNotVisible",
    "ApproximateNumberOfMessagesDelayed",
)


class CopyError(Exception):
    """SQS says that it has got something else than was sent."""


@dataclass(frozen=True, slots=True)
class Queues:
    """URLs of the backlog and of its dead-letter queue."""

    backlog: str
    dead_letters: str


@dataclass(frozen=True, slots=True)
class Status:
    """How many messages there are, as SQS counts them: approximately. `oldest_seconds` is None where nobody knows.

    `in_flight` are those being tried and, most of them, those put off until their next try.
    """

    waiting: int
    in_flight: int
    delayed: int
    oldest_seconds: int | None
    dead_letters: int
    dead_letters_in_flight: int


_OPTIONS = (
    aws.stack_option,
    click.option("--queue-url", metavar="URL", help="The backlog; or name the stack."),
    click.option("--dead-letter-url", metavar="URL", help="The dead-letter queue; or name the stack."),
    aws.endpoint_url_option,
)


@dataclass(frozen=True, slots=True)
class Where:
    """The queues, named themselves or by their stack, as typed."""

    stack: str | None
    queue_url: str | None
    dead_letter_url: str | None
    endpoint_url: str | None

    def queues(self) -> Queues:
        """Look up what was not named itself; raise UsageError or AwsError."""
        if not (self.stack or (self.queue_url and self.dead_letter_url)):
            raise click.UsageError("name the adapter's stack with --stack, or both --queue-url and --dead-letter-url")
        return Queues(
            self.queue_url or aws.output(str(self.stack), "BacklogUrl", self.endpoint_url),
            self.dead_letter_url or aws.output(str(self.stack), "DeadLetterUrl", self.endpoint_url),
        )


@click.group()
def backlog() -> None:
    """See how much waits, and have dead letters tried again."""


@backlog.command()
@options.all_of(*_OPTIONS)
@click.option("--json", "as_json", is_flag=True, help="Print it as JSON.")
def status(*, as_json: bool, **given: object) -> None:
    """Count what waits in the backlog, and its dead letters."""
    where = options.pick(Where, given)
    queues = where.queues()
    now = count(aws.sqs(where.endpoint_url), queues, oldest(queues.backlog, where.endpoint_url))
    if as_json:
        click.echo(json.dumps(asdict(now), indent=2))
        return
    _print(now)


@backlog.command()
@options.all_of(*_OPTIONS)
@click.pass_context
def redrive(context: click.Context, /, **given: object) -> None:
    """Put all dead letters back on the backlog, where they have all their tries again.

    They keep their bytes, and none is lost by an interruption: the same command goes on.
    """
    where = options.pick(Where, given)
    queues, client = where.queues(), aws.sqs(where.endpoint_url)
    expected = count(client, queues, None).dead_letters
    mover = Mover(client, queues)
    try:
        _watched(mover, expected)
    except KeyboardInterrupt:
        exit_status, stopped = INTERRUPTED, "interrupted"
    except (aws.AwsError, CopyError) as error:
        exit_status, stopped = 1, str(error)
    else:
        exit_status, stopped = 0, ""
    click.echo(f"{mover.moved:,} dead letters are on the backlog again")
    if stopped:
        click.echo(f"Stopped: {stopped}", err=True)
        click.echo(f"The same command goes on; wait {_VISIBILITY // 60} minutes for what was under way.", err=True)
    if mover.moved:
        click.echo(f"To watch them: {shlex.join(['lineage-adapter', 'backlog', 'status', *options.words(where)])}")
    context.exit(exit_status)


class Mover:
    """Moves dead letters back to the backlog, several at a time. `moved` counts them."""

    def __init__(self, client: SQSClient, queues: Queues) -> None:
        """Move between `queues`."""
        self._client = client
        self._queues = queues
        self._stop = Event()
        self._lock = Lock()
        # Message ids: SQS may give one message to several receivers ("At-least-once delivery", developer guide).
        self._taken: set[str] = set()
        self.moved = 0

    def run(self, tell: Callable[[int], object]) -> None:
        """Move until there are none left, and `tell` how many are moved so far; raise AwsError or CopyError."""
        with ThreadPoolExecutor(_MOVERS) as pool:
            lanes = [pool.submit(self._run, tell) for _ in range(_MOVERS)]
            try:
                for lane in lanes:
                    lane.result()
            finally:
                self._stop.set()

    def _run(self, tell: Callable[[int], object]) -> None:
        try:
            while not self._stop.is_set() and (messages := self._received()):
                for message in filter(self._first, messages):
                    self.move(message)
                    with self._lock:
                        self.moved += 1
                        tell(self.moved)
        finally:
            # One that finds none left, or cannot go on, speaks for all.
            self._stop.set()

    def _first(self, message: MessageTypeDef) -> bool:
        """Say whether `message` is not another lane's already, which deletes it when its copy is made."""
        with self._lock:
            first = message["MessageId"] not in self._taken
            self._taken.add(message["MessageId"])
        return first

    def _received(self) -> list[MessageTypeDef]:
        with aws.explained(self._queues.dead_letters):
            answer = self._client.receive_message(
                QueueUrl=self._queues.dead_letters,
                MaxNumberOfMessages=10,
                MessageAttributeNames=["All"],
                VisibilityTimeout=_VISIBILITY,
                WaitTimeSeconds=_WAIT,
            )
        return answer.get("Messages", [])

    def move(self, message: MessageTypeDef) -> None:
        """Copy one received dead letter to the backlog, then delete it; raise AwsError or CopyError."""
        with aws.explained(self._queues.backlog):
            sent = self._client.send_message(
                QueueUrl=self._queues.backlog,
                MessageBody=message["Body"],
                MessageAttributes=_attributes(message),
            )
        if sent["MD5OfMessageBody"] != message["MD5OfBody"]:
            raise CopyError("SQS has received another message than it gave; nothing is deleted")
        with aws.explained(self._queues.dead_letters):
            self._client.delete_message(QueueUrl=self._queues.dead_letters, ReceiptHandle=message["ReceiptHandle"])


def count(client: SQSClient, queues: Queues, oldest_seconds: int | None) -> Status:
    """Ask SQS how many messages there are; raise AwsError."""
    waiting, dead = (numbers(client, url) for url in (queues.backlog, queues.dead_letters))
    return Status(*waiting, oldest_seconds, dead[0], dead[1])


def oldest(queue_url: str, endpoint_url: str | None) -> int | None:
    """Give the age of the oldest message in seconds; only CloudWatch knows it, and not at once. None if it does not."""
    now = datetime.now(UTC)
    try:
        with aws.explained("CloudWatch"):
            answer = aws.cloudwatch(endpoint_url).get_metric_statistics(
                Namespace="AWS/SQS",
                MetricName="ApproximateAgeOfOldestMessage",
                Dimensions=[{"Name": "QueueName", "Value": queue_url.rsplit("/", 1)[-1]}],
                StartTime=now - timedelta(minutes=_METRIC_MINUTES),
                EndTime=now,
                Period=60,
                Statistics=["Maximum"],
            )
    except aws.AwsError:
        # The numbers are worth showing without it.
        return None
    points = sorted(answer["Datapoints"], key=lambda point: point["Timestamp"])
    return int(points[-1]["Maximum"]) if points else None


def numbers(client: SQSClient, url: str) -> tuple[int, int, int]:
    """Count the messages of one queue: waiting, in flight, delayed; raise AwsError."""
    with aws.explained(url):
        attributes = client.get_queue_attributes(QueueUrl=url, AttributeNames=list(_NUMBERS))["Attributes"]
    waiting, in_flight, delayed = (int(attributes[name]) for name in _NUMBERS)
    return waiting, in_flight, delayed


def _attributes(message: MessageTypeDef) -> dict[str, MessageAttributeValueTypeDef]:
    """Give the attributes of a received message as they can be sent."""
    return {
        name: {"DataType": value["DataType"], "BinaryValue": value["BinaryValue"]}
        if "BinaryValue" in value
        else {"DataType": value["DataType"], "StringValue": value["StringValue"]}
        for name, value in message.get("MessageAttributes", {}).items()
    }


def _print(now: Status) -> None:
    age = "unknown" if now.oldest_seconds is None else str(timedelta(seconds=now.oldest_seconds))
    click.echo(f"waiting       {now.waiting:,}")
    click.echo(f"in flight     {now.in_flight:,}  (being tried, or put off until the next try)")
    click.echo(f"delayed       {now.delayed:,}")
    click.echo(f"oldest        {age}")
    click.echo(f"dead letters  {now.dead_letters:,}  (and {now.dead_letters_in_flight:,} in flight)")
    if now.dead_letters:
        click.echo("Nothing tries dead letters any more; when the cause is gone, lineage-adapter backlog redrive does.")


def _watched(mover: Mover, expected: int) -> None:
    console = Console(stderr=True)
    columns = (BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, disable=not console.is_terminal) as bar:
        task = bar.add_task("", total=expected)
        mover.run(lambda moved: bar.update(task, completed=moved))
