"""What doctor makes of documented answers that the local system does not give: AWS's and the gateway's, at the wire."""

from __future__ import annotations

import json
import re
import socket
import ssl
import time
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from hashlib import sha256
from threading import Thread
from typing import TYPE_CHECKING, Any

import httpx
import pytest
from click.testing import CliRunner

from adapter.producers import Producer, Token, dump
from cli.doctor import canary, keeping, working
from cli.doctor.canary import Patience, Place
from cli.doctor.deployment import ALARM, FUNCTION, MAPPING, ROLE, Deployment, Resource
from cli.doctor.door import Door
from cli.doctor.finding import Finding, State, examined
from cli.main import group
from local import cloudformation
from local.server import Request, Response, Server, json_response
from tests.emitters.tls import certificate
from tests.integration.running import ROOT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

STACK = "lineage-adapter"
UUID = "00000000-0000-0000-0000-000000000000"
DOCTOR = (ROOT / "docs" / "doctor.md").read_text()
UNKNOWN = "olz_00000000_" + "x" * 43
OUTPUTS = {
    "DomainId": "dzd_here",
    "DomainRegion": "eu-west-1",
    "ProducersSecretArn": "arn:aws:secretsmanager:eu-west-1:123456789012:secret:p",
    "StreamName": "openlineage",
    "QuarantineBucketName": "kept",
    "ReconcileLogGroupName": "/aws/lambda/reconcile",
}
RESOURCES = (
    Resource("HttpFunction", FUNCTION, "http"),
    Resource("HttpRole", ROLE, "http-role"),
    Resource("ReconcileRole", ROLE, "reconcile-role"),
    Resource("BacklogFunctionBacklog", MAPPING, UUID),
    Resource("UnkeptAlarm", ALARM, "unkept"),
)
SIGNED_FOR = re.compile(r"/([a-z0-9-]+)/aws4_request")


@pytest.fixture(autouse=True)
def _operator(monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(variable, "test")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-west-1")


@contextmanager
def serving(answering: Callable[[Request], Response]) -> Iterator[str]:
    server = Server(0, answering, 1_000_000)
    server.start()
    yield server.url
    server.stop()


def deployment(age: timedelta = timedelta(days=1), **parameters: str) -> Deployment:
    arn = "arn:aws:cloudformation:eu-west-1:123456789012:stack/lineage-adapter/0"
    return Deployment(arn, "CREATE_COMPLETE", datetime.now(UTC) - age, OUTPUTS, parameters, RESOURCES)


def found(name: str, answers: dict[str, Response], /, **about: Any) -> Finding:  # noqa: ANN401 - as deployment has it
    """Give what is found under `name` where AWS gives these `answers`, by a part of what is asked."""

    def answering(request: Request) -> Response:
        service = SIGNED_FOR.search(request.header("Authorization"))
        asked = f"{service and service[1]} {request.method} {request.target} {request.header('X-Amz-Target')} "
        return next(answer for part, answer in answers.items() if part in asked + request.body.decode())

    with serving(answering) as url:
        stack = deployment(**about)
        checks = (*keeping.checks(STACK, stack, url), *working.checks(STACK, stack, url))
        return dict(examined(check for check in checks if check.name == name))[name]


def xml(body: str, status: int = 200) -> Response:
    return Response(status, [("Content-Type", "text/xml")], body.encode())


def denied(service: str) -> Response:
    if service in ("iam", "sns"):
        return xml("<ErrorResponse><Error><Code>AccessDenied</Code></Error></ErrorResponse>", 403)
    if service == "s3":
        return xml("<Error><Code>AccessDenied</Code></Error>", 403)
    answer = json_response(403, {"__type": "AccessDeniedException", "message": "no"})
    return Response(403, [*answer.headers, ("x-amzn-errortype", "AccessDeniedException")], answer.body)


@pytest.mark.parametrize(
    ("name", "service", "permission"),
    [
        ("producers", "secretsmanager", "secretsmanager:GetSecretValue"),
        ("quarantine", "s3", "s3:ListBucket"),
        ("stream", "kinesis", "kinesis:DescribeStreamSummary"),
        ("domain", "datazone", "datazone:ListLineageEvents"),
        ("roles", "iam", "iam:SimulatePrincipalPolicy"),
        ("functions", "lambda", "lambda:GetFunctionConfiguration"),
        ("event sources", "lambda", "lambda:GetEventSourceMapping"),
        ("alarms", "monitoring", "cloudwatch:DescribeAlarms"),
        ("reconciliation", "s3", "s3:GetObject"),
    ],
)
def test_what_one_may_not_look_at_is_not_well_and_names_the_permission(
    name: str, service: str, permission: str
) -> None:
    one = found(name, {service: denied(service)})
    assert one.state is State.NOT_LOOKED_AT
    assert permission in one.said
    (listed,) = re.findall(rf"^\| `{name}` \|.*\|(.*)\|$", DOCTOR, re.MULTILINE)
    assert f"`{permission}`" in listed or f"`{permission.partition(':')[2]}`" in listed


CONFIGURATION = {"State": "Active", "LastUpdateStatus": "Successful"}


@pytest.mark.parametrize(
    ("configuration", "concurrency", "state", "said"),
    [
        (CONFIGURATION, {}, State.OK, "1 are Active"),
        (CONFIGURATION, {"ReservedConcurrentExecutions": 5}, State.OK, ""),
        (CONFIGURATION, {"ReservedConcurrentExecutions": 0}, State.FAILED, "concurrency is 0"),
        ({"State": "Failed", "StateReasonCode": "DisabledKMSKey"}, {}, State.FAILED, "DisabledKMSKey"),
        (CONFIGURATION | {"LastUpdateStatus": "Failed"}, {}, State.FAILED, "could not be updated"),
        (CONFIGURATION | {"LastUpdateStatus": "InProgress"}, {}, State.WARNING, "being updated"),
        ({"State": "Inactive", "LastUpdateStatus": "Successful"}, {}, State.WARNING, "Inactive"),
    ],
)
def test_functions_are_as_lambda_says(
    configuration: dict[str, object], concurrency: dict[str, object], state: State, said: str
) -> None:
    """AWS Lambda API reference, GetFunctionConfiguration and GetFunctionConcurrency."""
    answers = {"/configuration": json_response(200, configuration), "/concurrency": json_response(200, concurrency)}
    one = found("functions", answers)
    assert (one.state, said in one.said) == (state, True)


@pytest.mark.parametrize(
    ("mapping", "state", "said"),
    [
        ({"State": "Enabled", "LastProcessingResult": "OK"}, State.OK, "BacklogFunctionBacklog"),
        ({"State": "Disabled"}, State.FAILED, UUID),
        ({"State": "Updating"}, State.WARNING, "Updating"),
        ({"State": "Enabled", "LastProcessingResult": "PROBLEM: Function call failed"}, State.WARNING, "PROBLEM"),
    ],
)
def test_event_sources_are_as_lambda_says(mapping: dict[str, str], state: State, said: str) -> None:
    """AWS Lambda API reference, GetEventSourceMapping."""
    one = found("event sources", {f"event-source-mappings/{UUID}": json_response(200, mapping)})
    assert (one.state, said in one.said) == (state, True)


def decisions(decision: str) -> Response:
    results = "".join(
        f"<member><EvalActionName>{action}</EvalActionName><EvalDecision>{decision}</EvalDecision></member>"
        for action in ("datazone:PostLineageEvent",)
    )
    name = "SimulatePrincipalPolicy"
    return xml(
        f"<{name}Response xmlns='https://iam.amazonaws.com/doc/2010-05-08/'><{name}Result><EvaluationResults>{results}"
        f"</EvaluationResults><IsTruncated>false</IsTruncated></{name}Result></{name}Response>"
    )


@pytest.mark.parametrize(
    ("decision", "state"), [("allowed", State.OK), ("implicitDeny", State.WARNING), ("explicitDeny", State.WARNING)]
)
def test_what_iam_would_say_to_the_functions_is_asked(decision: str, state: State) -> None:
    """AWS IAM API reference, SimulatePrincipalPolicy."""
    one = found("roles", {"SimulatePrincipalPolicy": decisions(decision)})
    assert one.state is state
    assert "arn:aws:datazone:eu-west-1:123456789012:domain/dzd_here" in one.said


def test_with_a_role_in_the_domain_s_account_it_is_asked_whether_that_may_be_assumed() -> None:
    arn = "arn:aws:iam::210987654321:role/lineage"
    one = found("roles", {"sts%3AAssumeRole": decisions("allowed")}, DomainRoleArn=arn)
    assert (one.state, arn in one.said) == (State.OK, True)


TOPIC = "arn:aws:sns:eu-west-1:123456789012:alarms"


def alarm(**about: object) -> dict[str, Response]:
    one = {"AlarmName": "unkept", "StateValue": "OK", "ActionsEnabled": True, "AlarmActions": [TOPIC]} | about
    return {"DescribeAlarms": json_response(200, {"MetricAlarms": [one], "CompositeAlarms": []})}


def subscribed(number: int) -> dict[str, Response]:
    entry = f"<entry><key>SubscriptionsConfirmed</key><value>{number}</value></entry>"
    name = "GetTopicAttributes"
    body = f"<{name}Response><{name}Result><Attributes>{entry}</Attributes></{name}Result></{name}Response>"
    return {"GetTopicAttributes": xml(body)}


@pytest.mark.parametrize(
    ("name", "answers", "state", "said"),
    [
        ("alarms", alarm(), State.OK, "1, none in ALARM"),
        ("alarms", alarm(StateValue="ALARM"), State.FAILED, "UnkeptAlarm"),
        ("alarms", alarm(AlarmName="another"), State.FAILED, "not there: UnkeptAlarm"),
        ("alarm topic", alarm() | subscribed(1), State.OK, TOPIC),
        ("alarm topic", alarm() | subscribed(0), State.WARNING, "nobody has subscribed"),
        ("alarm topic", alarm(ActionsEnabled=False), State.WARNING, "nobody hears UnkeptAlarm"),
        ("alarm topic", alarm(AlarmActions=[]), State.WARNING, "nobody hears UnkeptAlarm"),
    ],
)
def test_alarms_are_there_quiet_and_heard(name: str, answers: dict[str, Response], state: State, said: str) -> None:
    """Amazon CloudWatch API reference, DescribeAlarms; Amazon SNS API reference, GetTopicAttributes."""
    one = found(name, answers)
    assert (one.state, said in one.said) == (state, True), one


@pytest.mark.parametrize(
    ("status", "state"), [("ACTIVE", State.OK), ("UPDATING", State.OK), ("CREATING", State.FAILED)]
)
def test_a_stream_is_as_kinesis_says(status: str, state: State) -> None:
    about = {"StreamStatus": status, "OpenShardCount": 2}
    one = found("stream", {"DescribeStreamSummary": json_response(200, {"StreamDescriptionSummary": about})})
    assert one.state is state


def test_a_stream_that_is_gone_is_broken() -> None:
    gone = json_response(400, {"__type": "ResourceNotFoundException", "message": "no"})
    one = found("stream", {"DescribeStreamSummary": gone})
    assert (one.state, "no such stream" in one.said) == (State.FAILED, True)


def bucket(versioning: str, algorithm: str) -> dict[str, Response]:
    status = f"<Status>{versioning}</Status>" if versioning else ""
    rule = f"<Rule><ApplyServerSideEncryptionByDefault><SSEAlgorithm>{algorithm}</SSEAlgorithm>"
    return {
        "?versioning": xml(f"<VersioningConfiguration>{status}</VersioningConfiguration>"),
        "?encryption": xml(f"<R>{rule}</ApplyServerSideEncryptionByDefault></Rule></R>"),
        "HEAD": Response(200, [], b""),
    }


@pytest.mark.parametrize(
    ("versioning", "algorithm", "key", "state"),
    [
        ("Enabled", "AES256", "", State.OK),
        ("Enabled", "aws:kms", "arn:aws:kms:eu-west-1:1:key/a", State.OK),
        ("Enabled", "AES256", "arn:aws:kms:eu-west-1:1:key/a", State.WARNING),
        ("Suspended", "AES256", "", State.WARNING),
        ("", "AES256", "", State.WARNING),
    ],
)
def test_a_bucket_is_as_the_template_has_it(versioning: str, algorithm: str, key: str, state: State) -> None:
    """Amazon S3 API reference, GetBucketVersioning and GetBucketEncryption."""
    assert found("quarantine", bucket(versioning, algorithm), KmsKeyArn=key).state is state


def producers(*tokens: Token, access: str = "tokens") -> Finding:
    document = dump({"retail": Producer("retail", ("retail",), tokens)} if access else {})
    value = {"SecretString": document, "VersionId": "0" * 32, "Name": "p"}
    return found("producers", {"GetSecretValue": json_response(200, value)}, Access=access or "tokens")


def live(seconds: float | None) -> Token:
    return Token("0" * 8, "0" * 64, 0, None if seconds is None else int(time.time() + seconds))


def test_tokens_that_end_are_said_before_they_do() -> None:
    day = 24 * 60 * 60
    assert producers(live(None)).state is State.OK
    assert producers(live(20 * day)).state is State.OK
    assert producers(live(10 * day), live(None)).state is State.OK
    ending = producers(live(10 * day))
    assert (ending.state, "retail" in ending.said) == (State.WARNING, True)
    assert producers(live(-1)).state is State.FAILED
    assert producers().state is State.FAILED
    assert producers(access="").state is State.FAILED
    assert producers(access="jwt").state is State.OK


def test_a_secret_that_is_not_understood_lets_nobody_in() -> None:
    value = {"SecretString": "{}", "VersionId": "0" * 32, "Name": "p"}
    assert found("producers", {"GetSecretValue": json_response(200, value)}).state is State.FAILED


@pytest.mark.parametrize(
    ("passed", "settled", "state"), [(4, 19, State.OK), (16, 31, State.FAILED), (4, 90, State.WARNING)]
)
def test_reconciliation_is_as_late_as_its_last_pass(passed: int, settled: int, state: State) -> None:
    now = datetime.now(UTC)
    modified = format_datetime(now - timedelta(minutes=passed), usegmt=True)
    body = {"settled": (now - timedelta(minutes=settled)).timestamp(), "looked_back": 0}
    answer = json_response(200, body)
    stored = Response(200, [*answer.headers, ("Last-Modified", modified)], answer.body)
    assert found("reconciliation", {"position.json": stored}).state is state


@pytest.mark.parametrize(("age", "state"), [(5, State.WARNING), (60, State.FAILED)])
def test_a_stack_without_a_pass_is_new_or_broken(age: int, state: State) -> None:
    none = xml("<Error><Code>NoSuchKey</Code></Error>", 404)
    assert found("reconciliation", {"position.json": none}, age=timedelta(minutes=age)).state is state


@pytest.mark.parametrize(
    ("status", "state"),
    [
        ("CREATE_COMPLETE", State.OK),
        ("UPDATE_IN_PROGRESS", State.WARNING),
        ("UPDATE_ROLLBACK_COMPLETE", State.WARNING),
        ("ROLLBACK_COMPLETE", State.FAILED),
        ("UPDATE_ROLLBACK_FAILED", State.FAILED),
    ],
)
def test_a_stack_is_as_its_last_deployment_ended(status: str, state: State) -> None:
    assert Deployment("arn", status, datetime.now(UTC), {}, {}, ()).finding().state is state


# ---- The gateway -----------------------------------------------------------------------------------------------------


def door(
    answering: Callable[[Request], Response], access: str | None, api_key: str | None = None
) -> dict[str, Finding]:
    with serving(answering) as url, httpx.Client() as client:
        return dict(examined(Door(client, url, api_key, access).checks()))


def gateway(status: int, /, with_token: int = 200, **headers: str) -> Callable[[Request], Response]:
    def answering(request: Request) -> Response:
        if request.method == "GET":
            answer = json_response(200, {"status": "ok"})
            return Response(200, [*answer.headers, *headers.items()], answer.body)
        return json_response(with_token if request.header("Authorization") else status, {})

    return answering


@pytest.mark.parametrize(
    ("access", "status", "state"),
    [
        ("tokens", 401, State.OK),
        ("tokens", 200, State.FAILED),
        ("jwt", 200, State.FAILED),
        ("open", 200, State.OK),
        ("open", 401, State.FAILED),
        (None, 200, State.WARNING),
        (None, 401, State.OK),
        ("tokens", 500, State.FAILED),
    ],
)
def test_whoever_has_no_token_is_let_in_where_that_is_meant_only(access: str, status: int, state: State) -> None:
    assert door(gateway(status), access)["access"].state is state


def test_a_token_is_sent_only_to_what_is_the_adapter() -> None:
    seen: list[str] = []

    def stranger(request: Request) -> Response:
        seen.append(request.header("Authorization"))
        return json_response(200, {})

    found = door(stranger, "tokens", UNKNOWN)
    assert (found["health"].state, found["token"].state) == (State.FAILED, State.SKIPPED)
    assert set(seen) == {""}


@pytest.mark.parametrize(("status", "state"), [(200, State.OK), (403, State.FAILED), (503, State.FAILED)])
def test_a_token_that_is_given_is_tried_and_never_shown(status: int, state: State) -> None:
    found = door(gateway(401, with_token=status), "tokens", UNKNOWN)
    assert found["token"].state is state
    assert not any(UNKNOWN in f"{one.said}{one.to_do}" for one in found.values())


@pytest.mark.parametrize(("minutes", "state"), [(0, State.OK), (-2, State.WARNING), (6, State.FAILED)])
def test_a_clock_that_aws_would_not_believe_is_named(minutes: int, state: State) -> None:
    there = format_datetime(datetime.now(UTC) + timedelta(minutes=minutes), usegmt=True)
    assert door(gateway(401, Date=there), "tokens")["clock"].state is state


def reached(url: str) -> dict[str, Finding]:
    """Give what is found on the way to an address."""
    with httpx.Client() as client:
        return dict(examined(Door(client, url, None).checks()))


def test_the_way_to_an_address_is_said_as_far_as_it_goes() -> None:
    unknown, closed = reached("https://nobody.invalid"), reached("http://127.0.0.1:9")
    assert [unknown[name].state for name in ("name", "connection", "health")] == [
        State.FAILED,
        State.SKIPPED,
        State.SKIPPED,
    ]
    assert (closed["name"].state, closed["connection"].state) == (State.OK, State.FAILED)


def test_what_a_proxy_looks_up_is_left_to_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("https_proxy", "http://127.0.0.1:9")
    found = reached("https://nobody.invalid")
    assert (found["name"].state, found["connection"].state, found["health"].state) == (
        State.OK,
        State.OK,
        State.FAILED,
    )


@pytest.mark.parametrize("name", ["localhost", "127.0.0.1"])
def test_a_certificate_is_trusted_for_its_name_only_and_said_to_end_soon(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    made = certificate(tmp_path)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(made)
    with socket.create_server(("127.0.0.1", 0)) as listening:
        url = f"https://{name}:{listening.getsockname()[1]}"
        for trusted in (None, made):
            Thread(target=shaken, args=[listening, context], daemon=True).start()
            monkeypatch.setenv("SSL_CERT_FILE", str(trusted or ""))
            found = connection(url)
            well = trusted and name == "localhost"
            assert found.state is (State.WARNING if well else State.FAILED), found
            assert ("certificate until" if well else "not trusted") in found.said


def connection(url: str) -> Finding:
    with httpx.Client() as client:
        checks = (check for check in Door(client, url, None).checks() if check.name in ("name", "connection"))
        return dict(examined(checks))["connection"]


def shaken(listening: socket.socket, context: ssl.SSLContext) -> None:
    with suppress(OSError):
        connection, _ = listening.accept()
        with connection, context.wrap_socket(connection, server_side=True):
            pass


# ---- The canary ------------------------------------------------------------------------------------------------------


def sent(answering: Callable[[bytes], Response], stored: Callable[[bytes], Response]) -> Finding:
    """Send a canary to a gateway that answers its bytes so, in front of a domain that has `stored`."""
    posted: list[bytes] = []

    def adapter(request: Request) -> Response:
        posted.append(request.body)
        return answering(request.body)

    def aws(request: Request) -> Response:
        return json_response(200, {"items": []}) if request.path.endswith("/events") else stored(posted[0])

    with serving(adapter) as url, serving(aws) as aws_url, httpx.Client() as client:
        place = Place(None, "dzd_here", "eu-west-1", aws_url)
        return canary.look(Door(client, url, None), place, "here", Patience(0.1, lambda _: None))


def taken(raw: bytes) -> Response:
    return json_response(200, {"id": "a" * 14, "domainId": "dzd_here", "clientToken": client_token(raw)})


def deferred(raw: bytes) -> Response:
    return json_response(202, {"status": "deferred", "clientToken": client_token(raw)})


def client_token(raw: bytes) -> str:
    return sha256(json.dumps(json.loads(raw), sort_keys=True).encode()).hexdigest()


def another_each_time() -> Callable[[bytes], Response]:
    ids = iter(("a" * 14, "b" * 14))
    return lambda raw: json_response(200, {"id": next(ids), "clientToken": client_token(raw)})


def processed(status: str) -> Callable[[bytes], Response]:
    return lambda raw: Response(200, [("Processing-Status", status), ("Content-Type", "application/octet-stream")], raw)


@pytest.mark.parametrize(
    ("answer", "stored", "state", "said"),
    [
        (taken, processed("SUCCESS"), State.OK, "the same event"),
        (another_each_time(), processed("SUCCESS"), State.WARNING, "b" * 14),
        (taken, processed("FAILED"), State.FAILED, "could not process"),
        (taken, processed("PROCESSING"), State.NOT_LOOKED_AT, "PROCESSING"),
        (taken, lambda raw: processed("SUCCESS")(raw + b" "), State.FAILED, "other bytes"),
        (taken, lambda _: denied("datazone"), State.NOT_LOOKED_AT, "datazone:GetLineageEvent"),
        (lambda _: taken(b"{}"), processed("SUCCESS"), State.FAILED, "another event"),
        (deferred, processed("SUCCESS"), State.FAILED, "not among"),
        (lambda _: json_response(503, {"code": "unavailable"}), processed("SUCCESS"), State.FAILED, "unavailable"),
    ],
)
def test_a_canary_s_end_is_told(
    answer: Callable[[bytes], Response], stored: Callable[[bytes], Response], state: State, said: str
) -> None:
    one = sent(answer, stored)
    assert (one.state, said in one.said) == (state, True), one


def test_a_stack_of_somebody_else_s_is_not_looked_into() -> None:
    me = "<GetCallerIdentityResult><Arn>arn:aws:iam::1:user/a</Arn><Account>1</Account></GetCallerIdentityResult>"

    def aws(request: Request) -> Response:
        if b"GetCallerIdentity" in request.body:
            return xml(f"<GetCallerIdentityResponse>{me}</GetCallerIdentityResponse>")
        return cloudformation.answer(
            request, cloudformation.Stack("other", "arn:aws:cloudformation:::stack/other/0", {})
        )

    with serving(aws) as url:
        result = CliRunner().invoke(group, ["doctor", "--stack", "other", "--endpoint-url", url, "--json"])
    assert result.exit_code == 1
    assert [one["state"] for one in json.loads(result.stdout)["checks"]] == ["ok", "FAILED"]
    assert "--stack" in result.stdout
