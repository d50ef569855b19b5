"""What works and what watches it: the domain, the functions and what feeds them, the alarms, reconciliation."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from adapter.found import POSITION
from cli import aws
from cli.bucket import Bucket
from cli.doctor.deployment import ALARM, FUNCTION, MAPPING, ROLE
from cli.doctor.finding import Check, Finding, failed, ok, skipped, some, warning

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from cli.doctor.deployment import Deployment

# Who calls what at DataZone (template.yaml, DomainPolicy and DomainReadPolicy), by the role's name in the template.
_POSTS, _READS = ["datazone:PostLineageEvent"], ["datazone:GetLineageEvent", "datazone:ListLineageEvents"]
ROLES: Mapping[str, list[str]] = {
    "HttpRole": _POSTS,
    "KinesisRole": _POSTS,
    "BacklogRole": _POSTS,
    "ReconcileRole": _READS,
}
# A pass comes every five minutes.
_PASS_IS_LATE = timedelta(minutes=15)
# The settled moment is a quarter of an hour behind, and an unfinished event holds it back (adapter/reconcile.py).
_SETTLED_IS_LATE = timedelta(hours=1)


def checks(stack: str, deployment: Deployment, endpoint_url: str | None) -> Iterator[Check]:
    """Give what of it there is to look at in this deployment."""
    yield Check("domain", lambda: _domain(deployment, endpoint_url))
    yield Check("roles", lambda: _roles(deployment, endpoint_url))
    yield Check("functions", lambda: _functions(deployment, endpoint_url))
    yield Check("event sources", lambda: _mappings(deployment, endpoint_url))
    yield Check("alarms", lambda: _alarms(deployment, endpoint_url))
    yield Check("alarm topic", lambda: _topic(deployment, endpoint_url))
    yield Check("reconciliation", lambda: _reconciliation(stack, deployment, endpoint_url))


def _domain(deployment: Deployment, endpoint_url: str | None) -> Finding:
    domain, region = deployment.output("DomainId"), deployment.output("DomainRegion")
    with aws.explained(f"the domain {domain} in {region}"):
        aws.datazone(region, endpoint_url).list_lineage_events(domainIdentifier=domain, maxResults=1)
    return ok(f"{domain} in {region} answers")


def _roles(deployment: Deployment, endpoint_url: str | None) -> Finding:
    """Have IAM say what it would say to the functions, which nobody but they can try."""
    roles = {name: physical for name, physical in deployment.of(ROLE).items() if name in ROLES}
    if not roles:
        return skipped("the stack lists no roles to ask about")
    _, partition, _, region, account, _ = deployment.arn.split(":", 5)
    assumed = deployment.parameters.get("DomainRoleArn")
    elsewhere = deployment.parameters.get("DomainRegion") or region
    target = assumed or f"arn:{partition}:datazone:{elsewhere}:{account}:domain/{deployment.output('DomainId')}"
    client = aws.client("iam", endpoint_url)
    denied = [
        f"{name} {action}"
        for name, physical in roles.items()
        for action in _denied(
            client,
            f"arn:{partition}:iam::{account}:role/{physical}",
            ["sts:AssumeRole"] if assumed else ROLES[name],
            target,
        )
    ]
    if denied:
        # The simulator's word is not IAM's own: PostLineageEvent has no resource type in IAM's lists.
        to_do = "the canary shows whether that is so; if it is, widen DomainResource, or mend what denies it"
        return warning(f"IAM's simulator would deny {some(denied)} on {target}", to_do)
    return ok(f"{len(roles)} may reach {target}, says IAM's simulator")


def _denied(client: Any, role: str, actions: list[str], target: str) -> list[str]:  # noqa: ANN401 - not installed
    with aws.explained("IAM"):
        pages = client.get_paginator("simulate_principal_policy").paginate(
            PolicySourceArn=role, ActionNames=actions, ResourceArns=[target]
        )
        results = [one for page in pages for one in page["EvaluationResults"]]
    return [one["EvalActionName"] for one in results if one["EvalDecision"] != "allowed"]


def _functions(deployment: Deployment, endpoint_url: str | None) -> Finding:
    client = aws.client("lambda", endpoint_url)
    functions = deployment.of(FUNCTION)
    broken, doubtful = [], []
    for name, physical in functions.items():
        with aws.explained(f"the function {name}"):
            about = client.get_function_configuration(FunctionName=physical)
            reserved = client.get_function_concurrency(FunctionName=physical).get("ReservedConcurrentExecutions")
        broken += [f"{name} {what}" for what in _brokenness(about, reserved)]
        doubtful += [f"{name} {what}" for what in _doubts(about)]
    if broken:
        return failed(some(broken), "aws lambda get-function-configuration says why; deploy again")
    if doubtful:
        return warning(some(doubtful), "look again in some minutes")
    return ok(f"{len(functions)} are Active") if functions else failed("the stack has none", "deploy it again")


def _brokenness(about: Mapping[str, Any], reserved: int | None) -> Iterator[str]:
    """AWS Lambda developer guide, "Lambda function states"; a reserved concurrency of 0 turns a function off."""
    if about.get("State") == "Failed":
        yield f"is Failed ({about.get('StateReasonCode', 'without a reason')})"
    if about.get("LastUpdateStatus") == "Failed":
        yield f"could not be updated ({about.get('LastUpdateStatusReasonCode', 'without a reason')})"
    if reserved == 0:
        yield "is turned off: its reserved concurrency is 0"


def _doubts(about: Mapping[str, Any]) -> Iterator[str]:
    # Inactive: idle for weeks; the first call wakes it, and is itself refused.
    if about.get("State") in ("Pending", "Inactive"):
        yield f"is {about['State']}"
    if about.get("LastUpdateStatus") == "InProgress":
        yield "is being updated"


def _mappings(deployment: Deployment, endpoint_url: str | None) -> Finding:
    client = aws.client("lambda", endpoint_url)
    mappings = deployment.of(MAPPING)
    states = {}
    for name, uuid in mappings.items():
        with aws.explained(f"the event source {name}"):
            about = client.get_event_source_mapping(UUID=uuid)
        states[name] = (about["State"], str(about.get("LastProcessingResult", "")))
    off = [f"{name} ({mappings[name]}) is {state}" for name, (state, _) in states.items() if state in _OFF]
    if off:
        to_do = "what waits is not worked off: aws lambda update-event-source-mapping --enabled --uuid UUID"
        return failed(some(off), to_do)
    doubtful = [
        f"{name} is {state} {said}".rstrip() for name, (state, said) in states.items() if _is_doubtful(state, said)
    ]
    if doubtful:
        return warning(some(doubtful), "the function's log says more; look again in some minutes")
    return ok(f"{some(states)} enabled") if states else failed("the stack has none", "deploy it again")


# AWS Lambda API reference, GetEventSourceMapping, State.
_OFF = frozenset({"Disabled", "Disabling", "Deleting"})


def _is_doubtful(state: str, said: str) -> bool:
    return state != "Enabled" or said.startswith("PROBLEM")


def _alarms(deployment: Deployment, endpoint_url: str | None) -> Finding:
    expected = deployment.of(ALARM)
    found = _described(expected, endpoint_url)
    if missing := sorted(expected.keys() - found.keys()):
        return failed(f"not there: {some(missing)}", "somebody has deleted them; deploy the template again")
    if firing := sorted(name for name, one in found.items() if one["StateValue"] == "ALARM"):
        return failed(f"in ALARM: {some(firing)}", f'docs/operate.md, "When an alarm fires": {some(firing)}')
    waiting = sum(one["StateValue"] == "INSUFFICIENT_DATA" for one in found.values())
    said = f"{len(found)}, none in ALARM" + (f", {waiting} without data yet" if waiting else "")
    return ok(said) if found else failed("the stack has none", "deploy it again")


def _topic(deployment: Deployment, endpoint_url: str | None) -> Finding:
    found = _described(deployment.of(ALARM), endpoint_url)
    silent = sorted(name for name, one in found.items() if not (one["ActionsEnabled"] and one["AlarmActions"]))
    if silent:
        return warning(f"nobody hears {some(silent)}", "deploy with AlarmEmail or AlarmTopicArn")
    topics = sorted({action for one in found.values() for action in one["AlarmActions"] if ":sns:" in action})
    unheard = [topic for topic in topics if not _subscribers(topic, endpoint_url)]
    if unheard:
        return warning(f"nobody has subscribed to {some(unheard)}", "subscribe to it, and confirm: aws sns subscribe")
    return ok(f"{len(found)} alarms tell {some(topics)}")


def _subscribers(topic: str, endpoint_url: str | None) -> int:
    with aws.explained(topic):
        attributes = aws.client("sns", endpoint_url).get_topic_attributes(TopicArn=topic)["Attributes"]
    return int(attributes["SubscriptionsConfirmed"])


def _described(expected: Mapping[str, str], endpoint_url: str | None) -> dict[str, Any]:
    """Give what CloudWatch says of each alarm that is there, by its name in the template."""
    if not expected:
        return {}
    with aws.explained("CloudWatch"):
        pages = (
            aws.cloudwatch(endpoint_url).get_paginator("describe_alarms").paginate(AlarmNames=list(expected.values()))
        )
        found = {one["AlarmName"]: one for page in pages for one in page["MetricAlarms"]}
    return {name: found[physical] for name, physical in expected.items() if physical in found}


def _reconciliation(stack: str, deployment: Deployment, endpoint_url: str | None) -> Finding:
    bucket = Bucket(aws.s3(endpoint_url), deployment.output("QuarantineBucketName"))
    stored = bucket.get(POSITION)
    if stored is None:
        return _no_pass(deployment)
    now = datetime.now(UTC)
    passed = now - stored.written[1]
    settled = now - datetime.fromtimestamp(json.loads(stored.body)["settled"], UTC)
    said = f"the last whole pass was {_minutes(passed)} ago, and knows all that failed until {_minutes(settled)} ago"
    if passed > _PASS_IS_LATE:
        log = deployment.outputs.get("ReconcileLogGroupName", "the reconciling function's log")
        return failed(said, f"a pass comes every five minutes; {log} has the cause")
    if settled > _SETTLED_IS_LATE:
        return warning(said, f"DataZone does not finish an event: lineage-adapter status --stack {stack} counts them")
    return ok(said)


def _no_pass(deployment: Deployment) -> Finding:
    said = "no pass has ended yet; one comes every five minutes"
    if deployment.is_new(_PASS_IS_LATE):
        return warning(said, "look again then")
    log = deployment.outputs.get("ReconcileLogGroupName", "the reconciling function's log")
    return failed(said, f"{log} has the cause; without a line there, its schedule is off")


def _minutes(span: timedelta) -> str:
    return f"{span.total_seconds() / 60:.0f} min"
