"""All that is kept is encrypted, with AWS's keys or, if one is given, with the one key."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.template.deployed import given

ARN = "arn:aws:kms:eu-central-1:123456789012:key/12345678-1234-1234-1234-123456789012"
KEY = {"Ref": "KmsKeyArn"}

# Every type of resource here that may hold something, and how it is encrypted.
HOLDERS = (
    "AWS::SQS::Queue",
    "AWS::S3::Bucket",
    "AWS::Kinesis::Stream",
    "AWS::Logs::LogGroup",
    "AWS::Lambda::Function",
    "AWS::SecretsManager::Secret",
)


def holders(**parameters: str) -> dict[str, tuple[str, dict[str, Any]]]:
    resources = given(EnableStream="true", ArchiveEvents="true", **parameters)
    return {name: (one["Type"], one["Properties"]) for name, one in resources.items() if one["Type"] in HOLDERS}


def encryption(kind: str, properties: dict[str, Any]) -> object:
    """Give what encrypts a resource: KEY for the given one, None for the service's default."""
    match kind:
        case "AWS::SQS::Queue":
            own = properties["SqsManagedSseEnabled"] is True
            return "SSE-SQS" if own else properties["KmsMasterKeyId"]
        case "AWS::S3::Bucket":
            (rule,) = properties["BucketEncryption"]["ServerSideEncryptionConfiguration"]
            default = rule["ServerSideEncryptionByDefault"]
            return default.get("KMSMasterKeyID", default["SSEAlgorithm"])
        case "AWS::Kinesis::Stream":
            assert properties["StreamEncryption"]["EncryptionType"] == "KMS"
            return properties["StreamEncryption"]["KeyId"]
        case "AWS::Lambda::Function":
            return properties.get("KmsKeyArn")
        case _:
            return properties.get("KmsKeyId")


def test_a_given_key_encrypts_everything_that_holds_something() -> None:
    found = holders(KmsKeyArn=ARN)
    assert {kind for kind, _ in found.values()} >= set(HOLDERS)
    assert {name: encryption(*one) for name, one in found.items()} == dict.fromkeys(found, KEY)


def test_without_one_everything_is_encrypted_all_the_same() -> None:
    """Log groups, environments and secrets are encrypted by their services unasked; for the others it is said here."""
    expected = {"AWS::SQS::Queue": "SSE-SQS", "AWS::S3::Bucket": "AES256", "AWS::Kinesis::Stream": "alias/aws/kinesis"}
    found = holders()
    assert {name: encryption(*one) for name, one in found.items()} == {
        name: expected.get(kind) for name, (kind, _) in found.items()
    }


def test_a_queue_has_one_encryption_and_not_two() -> None:
    """SQS refuses a queue with both."""
    for arn in ("", ARN):
        for kind, queue in holders(KmsKeyArn=arn).values():
            if kind == "AWS::SQS::Queue":
                assert queue["SqsManagedSseEnabled"] is not ("KmsMasterKeyId" in queue)


def test_the_bucket_calls_kms_seldom() -> None:
    (rule,) = holders(KmsKeyArn=ARN)["Quarantine"][1]["BucketEncryption"]["ServerSideEncryptionConfiguration"]
    assert rule["BucketKeyEnabled"] is True


@pytest.mark.parametrize("arn", ["", ARN])
def test_each_function_may_use_the_key_if_there_is_one_and_no_other(arn: str) -> None:
    resources = given(EnableStream="true", KmsKeyArn=arn)
    roles = [one["Properties"] for one in resources.values() if one["Type"] == "AWS::IAM::Role"]
    assert [{"Ref": "KeyPolicy"} in role["ManagedPolicyArns"] for role in roles] == [bool(arn)] * len(roles)
    assert ("KeyPolicy" in resources) is bool(arn)
    if arn:
        (statement,) = resources["KeyPolicy"]["Properties"]["PolicyDocument"]["Statement"]
        assert statement == {"Effect": "Allow", "Action": ["kms:Decrypt", "kms:GenerateDataKey"], "Resource": KEY}
