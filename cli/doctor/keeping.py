"""What keeps things: the secret of producers, the queues, the buckets and the stream."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from cli import aws
from cli.backlog import numbers
from cli.doctor.finding import Check, Finding, failed, ok, some, warning
from cli.producers import ProducersError, Secret

if TYPE_CHECKING:
    from collections.abc import Iterator

    from adapter.producers import Producer, Producers
    from cli.doctor.deployment import Deployment

_EXPIRY_DAYS = 14
_DAY = 24 * 60 * 60


def checks(stack: str, deployment: Deployment, endpoint_url: str | None) -> Iterator[Check]:
    """Give what of it there is to look at in this deployment."""
    access = deployment.parameters.get("Access")
    if access != "open":
        yield Check("producers", lambda: _producers(stack, deployment, endpoint_url))
    yield Check("backlog", lambda: _backlog(stack, deployment.output("BacklogUrl"), endpoint_url))
    yield Check("dead letters", lambda: _dead_letters(stack, deployment.output("DeadLetterUrl"), endpoint_url))
    yield Check("quarantine", lambda: _bucket(deployment, "QuarantineBucketName", endpoint_url))
    if "ArchiveBucketName" in deployment.outputs:
        yield Check("archive", lambda: _bucket(deployment, "ArchiveBucketName", endpoint_url))
    if "StreamName" in deployment.outputs:
        yield Check("stream", lambda: _stream(deployment.output("StreamName"), endpoint_url))


def _producers(stack: str, deployment: Deployment, endpoint_url: str | None) -> Finding:
    secret = Secret(aws.secretsmanager(endpoint_url), deployment.output("ProducersSecretArn"))
    try:
        with aws.explained("the secret of producers"):
            known = secret.producers()
    except ProducersError as error:
        return failed(str(error))
    if deployment.parameters.get("Access") == "jwt":
        to_do = f"lineage-adapter token allow NAME --namespace GLOB --stack {stack}"
        return ok(f"{len(known)} known") if known else failed("nobody may write yet", to_do)
    return _tokens(stack, known)


def _tokens(stack: str, known: Producers) -> Finding:
    now = time.time()
    live = [one for one in known.values() if _is_live(one, now)]
    if not live:
        to_do = f"lineage-adapter token issue NAME --namespace GLOB --stack {stack}"
        return failed("nobody has a live token, so nobody may write", to_do)
    over = [one.name for one in known.values() if one.tokens and not _is_live(one, now)]
    ending = [one.name for one in live if not _is_live(one, now + _EXPIRY_DAYS * _DAY)]
    troubles = _troubles(
        {"no token is good any more": over, f"the last token is over within {_EXPIRY_DAYS} days": ending}
    )
    said = f"{len(known)} known, {len(live)} with a live token"
    if troubles:
        return warning(f"{said}; {troubles}", f"lineage-adapter token rotate NAME --stack {stack}")
    return ok(said)


def _is_live(producer: Producer, now: float) -> bool:
    return any(not token.expired(now) for token in producer.tokens)


def _troubles(names: dict[str, list[str]]) -> str:
    return "; ".join(f"{what}: {some(whose)}" for what, whose in names.items() if whose)


def _backlog(stack: str, url: str, endpoint_url: str | None) -> Finding:
    waiting = sum(numbers(aws.sqs(endpoint_url), url))
    if waiting:
        to_do = f"lineage-adapter backlog status --stack {stack}; the functions' logs name the cause of each deferral"
        return warning(f"{waiting:,} waiting", to_do)
    return ok("nothing waits")


def _dead_letters(stack: str, url: str, endpoint_url: str | None) -> Finding:
    dead = sum(numbers(aws.sqs(endpoint_url), url))
    if dead:
        to_do = f"when the cause is gone: lineage-adapter backlog redrive --stack {stack}"
        return failed(f"{dead:,}, which nothing tries any more", to_do)
    return ok("none")


def _bucket(deployment: Deployment, output: str, endpoint_url: str | None) -> Finding:
    name = deployment.output(output)
    client = aws.s3(endpoint_url)
    with aws.explained(f"s3://{name}"):
        client.head_bucket(Bucket=name)
        versioning = client.get_bucket_versioning(Bucket=name).get("Status", "off")
        rules = client.get_bucket_encryption(Bucket=name)["ServerSideEncryptionConfiguration"]["Rules"]
    encryption = rules[0].get("ApplyServerSideEncryptionByDefault", {}).get("SSEAlgorithm", "none")
    wanted = "aws:kms" if deployment.parameters.get("KmsKeyArn") else "AES256"
    said = f"s3://{name}, versioning {versioning}, encryption {encryption}"
    if (versioning, encryption) != ("Enabled", wanted):
        return warning(said, f"the template has versioning Enabled and encryption {wanted}: deploy it again")
    return ok(said)


def _stream(name: str, endpoint_url: str | None) -> Finding:
    with aws.explained(f"the stream {name}"):
        summary = aws.client("kinesis", endpoint_url).describe_stream_summary(StreamName=name)
    about = summary["StreamDescriptionSummary"]
    said = f"{name} is {about['StreamStatus']}, {about['OpenShardCount']} shards"
    # While it is resharded it goes on taking and giving records.
    if about["StreamStatus"] in ("ACTIVE", "UPDATING"):
        return ok(said)
    return failed(said, "emitters cannot write to it before it is ACTIVE; deploy again if it never is")
