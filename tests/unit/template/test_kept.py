"""What waits and what is refused is kept long enough, and only for its owner."""

from __future__ import annotations

from typing import Any

import pytest

from adapter import backlog
from tests.unit.template.deployed import DAY, DEPLOYED, FUNCTIONS, HOUR, KEPT, PARAMETERS, get_att, of_type


def queue(name: str) -> dict[str, Any]:
    return of_type("AWS::SQS::Queue")[name]


def test_what_is_deferred_goes_to_the_backlog_and_what_is_refused_to_the_bucket() -> None:
    for name in FUNCTIONS:
        variables = DEPLOYED[name]["Properties"]["Environment"]["Variables"]
        assert variables["BACKLOG_URL"] == {"Ref": "Backlog"}
        assert variables["QUARANTINE_BUCKET"] == {"Ref": "Quarantine"}


def test_a_message_is_tried_as_often_as_there_are_delays_and_then_moved() -> None:
    assert queue("Backlog")["RedrivePolicy"] == {
        "deadLetterTargetArn": get_att("DeadLetters"),
        "maxReceiveCount": backlog.TRIES,
    }


def test_only_the_backlog_moves_messages_to_the_dead_letters() -> None:
    """The two name each other, so the one's ARN is written out from the other's name, on which it has to end."""
    allowed = queue("DeadLetters")["RedriveAllowPolicy"]
    assert allowed["redrivePermission"] == "byQueue"
    ((text, values),) = (source["Fn::Sub"] for source in allowed["sourceQueueArns"])
    name, same = queue("Backlog")["QueueName"]["Fn::Sub"]
    assert text == f"arn:${{AWS::Partition}}:sqs:${{AWS::Region}}:${{AWS::AccountId}}:{name}"
    assert values == same


def test_a_function_that_dies_keeps_a_message_neither_too_short_nor_too_long() -> None:
    """Six times its timeout as AWS asks for; the tries last 12 hours even if it never says when to try again."""
    hidden = queue("Backlog")["VisibilityTimeout"]
    assert hidden >= 6 * DEPLOYED["BacklogFunction"]["Properties"]["Timeout"]
    assert hidden * (backlog.TRIES - 1) >= 12 * HOUR


def test_all_tries_fit_into_the_backlog_three_times_and_leave_the_dead_letters_ten_days() -> None:
    """A moved message keeps its first date: what it has spent in the one queue is missing in the other."""
    kept = queue("Backlog")["MessageRetentionPeriod"]
    slowest = sum(max(backlog.delay(attempt) for _ in range(100)) for attempt in range(1, backlog.TRIES))
    assert kept >= 3 * max(slowest, queue("Backlog")["VisibilityTimeout"] * (backlog.TRIES - 1))
    assert queue("DeadLetters")["MessageRetentionPeriod"] == 14 * DAY >= kept + 10 * DAY


def test_the_queues_take_the_largest_message_that_the_adapter_sends() -> None:
    for name in of_type("AWS::SQS::Queue"):
        assert queue(name)["MaximumMessageSize"] == backlog.MAX_MESSAGE_BYTES


@pytest.mark.parametrize("name", [name for name, resource in DEPLOYED.items() if resource["Type"] in KEPT])
def test_what_holds_events_outlives_the_stack_and_so_does_its_policy(name: str) -> None:
    assert DEPLOYED[name]["DeletionPolicy"] == "RetainExceptOnCreate"
    assert DEPLOYED[name]["UpdateReplacePolicy"] == "Retain"


def test_a_stack_made_anew_does_not_meet_what_the_last_one_left() -> None:
    """What is kept has a name of CloudFormation's making, or one with a part of this very stack's id in it."""
    names = [
        resource["Properties"][key]
        for resource in DEPLOYED.values()
        if resource["Type"] in KEPT
        for key in ("Name", "QueueName", "BucketName")
        if key in resource["Properties"]
    ]
    ((text, values),) = (name["Fn::Sub"] for name in names)
    assert "${Made}" in text
    uuid = {"Fn::Select": [2, {"Fn::Split": ["/", {"Ref": "AWS::StackId"}]}]}
    assert values == {"Made": {"Fn::Select": [0, {"Fn::Split": ["-", uuid]}]}}


@pytest.mark.parametrize(
    ("policy", "target", "resources"),
    [
        ("BacklogTransport", {"Queues": [{"Ref": "Backlog"}]}, get_att("Backlog")),
        ("DeadLettersTransport", {"Queues": [{"Ref": "DeadLetters"}]}, get_att("DeadLetters")),
        (
            "QuarantineTransport",
            {"Bucket": {"Ref": "Quarantine"}},
            [get_att("Quarantine"), {"Fn::Sub": "${Quarantine.Arn}/*"}],
        ),
        (
            "ArchiveTransport",
            {"Bucket": {"Ref": "Archive"}},
            [get_att("Archive"), {"Fn::Sub": "${Archive.Arn}/*"}],
        ),
    ],
)
def test_nobody_reaches_what_is_kept_without_tls(policy: str, target: dict[str, Any], resources: object) -> None:
    properties = DEPLOYED[policy]["Properties"]
    (statement,) = properties["PolicyDocument"]["Statement"]
    assert properties == {"PolicyDocument": properties["PolicyDocument"]} | target
    assert (statement["Effect"], statement["Principal"]) == ("Deny", "*")
    assert statement["Action"] in {"sqs:*", "s3:*"}
    assert statement["Resource"] == resources
    assert statement["Condition"] == {"Bool": {"aws:SecureTransport": "false"}}


@pytest.mark.parametrize("name", of_type("AWS::S3::Bucket"))
def test_each_bucket_is_its_owners_alone(name: str) -> None:
    bucket = DEPLOYED[name]["Properties"]
    public = {"BlockPublicAcls", "BlockPublicPolicy", "IgnorePublicAcls", "RestrictPublicBuckets"}
    assert bucket["PublicAccessBlockConfiguration"] == dict.fromkeys(public, True)
    assert bucket["OwnershipControls"] == {"Rules": [{"ObjectOwnership": "BucketOwnerEnforced"}]}


def test_the_archive_forgets_nothing() -> None:
    archive = DEPLOYED["Archive"]["Properties"]
    assert archive["VersioningConfiguration"] == {"Status": "Enabled"}
    (tidy,) = archive["LifecycleConfiguration"]["Rules"]
    assert {"ExpirationInDays", "ExpirationDate"}.isdisjoint(tidy)


def test_without_the_archive_nothing_of_it_is_deployed_and_no_function_knows_one() -> None:
    optional = {name for name, resource in DEPLOYED.items() if resource.get("Condition") == "Archives"}
    assert optional == {"Archive", "ArchiveTransport", "ArchivePolicy"}
    for name in FUNCTIONS:
        variables = DEPLOYED[name]["Properties"]["Environment"]["Variables"]
        assert variables["ARCHIVE_BUCKET"] == {"Fn::If": ["Archives", {"Ref": "Archive"}, ""]}
    assert PARAMETERS["ArchiveEvents"]["Default"] == "false"


def test_the_bucket_forgets_everything_in_time_and_nothing_unseen() -> None:
    """One rule without a prefix, so for all keys: the adapter's, a replay's and Lambda's. What it replaces stays."""
    bucket = DEPLOYED["Quarantine"]["Properties"]
    assert bucket["VersioningConfiguration"] == {"Status": "Enabled"}
    forget, tidy = bucket["LifecycleConfiguration"]["Rules"]
    assert {"Prefix", "TagFilters"}.isdisjoint({*forget, *tidy})
    assert forget["Status"] == tidy["Status"] == "Enabled"
    assert forget["ExpirationInDays"] == {"Ref": "QuarantineDays"}
    assert forget["NoncurrentVersionExpiration"] == {"NoncurrentDays": 30}
    assert forget["AbortIncompleteMultipartUpload"] == {"DaysAfterInitiation": 1}
    assert tidy["ExpiredObjectDeleteMarker"] is True
