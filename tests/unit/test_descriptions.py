"""botocore's descriptions are cut, and nothing that the adapter asks of AWS or hears from it changes by that."""

from __future__ import annotations

import ast
import gzip
import json
import re
import shutil
from io import BytesIO
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import botocore
import botocore.config
import pytest
from botocore import xform_name
from botocore.awsrequest import AWSResponse, HTTPHeaders
from botocore.exceptions import ClientError, EndpointVariantError
from botocore.loaders import Loader
from botocore.regions import EndpointResolver
from botocore.session import get_session

from tests.artefact import ROOT
from tools.descriptions import OPERATIONS, cut

if TYPE_CHECKING:
    from botocore.awsrequest import AWSPreparedRequest
    from botocore.client import BaseClient

WHOLE = Path(botocore.__file__).parent / "data"
CALLS = [(service, operation) for service, operations in OPERATIONS.items() for operation in operations]

# How the adapter calls each, and what it may be answered.
PARAMETERS: dict[str, dict[str, Any]] = {
    "GetLineageEvent": {"domainIdentifier": "dzd_1", "identifier": "abcdefghij1234"},
    "ListLineageEvents": {
        "domainIdentifier": "dzd_1",
        "processingStatus": "FAILED",
        "timestampAfter": 1_800_000_000,
        "timestampBefore": 1_800_000_900,
        "sortOrder": "ASCENDING",
        "maxResults": 50,
        "nextToken": "more",
    },
    "PostLineageEvent": {"domainIdentifier": "dzd_1", "event": b"{}", "clientToken": "token"},
    "GetObject": {"Bucket": "bucket", "Key": "reconcile/position.json"},
    "ListObjectsV2": {"Bucket": "bucket", "Prefix": "reconcile/", "ContinuationToken": "more"},
    "PutObject": {
        "Bucket": "bucket",
        "Key": "a b/ä",
        "Body": b"x",
        "ContentType": "text/plain",
        "Metadata": {"sha256": "0"},
    },
    "GetSecretValue": {"SecretId": "secret", "VersionStage": "AWSCURRENT"},
    "ChangeMessageVisibility": {"QueueUrl": "https://sqs/1/q", "ReceiptHandle": "it", "VisibilityTimeout": 60},
    "SendMessage": {"QueueUrl": "https://sqs/1/q", "MessageBody": "event"},
    "AssumeRole": {"RoleArn": "arn:aws:iam::123456789012:role/lineage", "RoleSessionName": "adapter"},
}
ANSWERS: dict[str, str] = {
    "GetLineageEvent": '{"job": {}}',
    "ListLineageEvents": json.dumps(
        {
            "items": [
                {
                    "id": "abcdefghij1234",
                    "createdAt": 1_800_000_000.5,
                    "processingStatus": "FAILED",
                    "eventSummary": {"openLineageRunEventSummary": {"job": {"namespace": "retail", "name": "orders"}}},
                }
            ],
            "nextToken": "more",
        }
    ),
    "PostLineageEvent": '{"id": "abcdefghij1234", "domainId": "dzd_1"}',
    "GetObject": '{"settled": 1.0}',
    "ListObjectsV2": "<ListBucketResult><IsTruncated>true</IsTruncated><NextContinuationToken>more"
    "</NextContinuationToken><Contents><Key>reconcile/failed/1</Key><Size>1</Size></Contents></ListBucketResult>",
    "PutObject": "",
    "GetSecretValue": '{"Name": "secret", "SecretString": "{}", "CreatedDate": 1800000000.5}',
    "ChangeMessageVisibility": "{}",
    "SendMessage": '{"MessageId": "1", "MD5OfMessageBody": "4119639092e62c55ea8be348e4d9260d"}',
    "AssumeRole": "<AssumeRoleResponse><AssumeRoleResult><Credentials><AccessKeyId>ID</AccessKeyId>"
    "<Expiration>2099-01-01T00:00:00Z</Expiration></Credentials></AssumeRoleResult></AssumeRoleResponse>",
}


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give botocore's data of the adapter's services and one other, cut."""
    copied = tmp_path_factory.mktemp("botocore") / "data"
    for service in (*OPERATIONS, "kinesis"):
        shutil.copytree(WHOLE / service, copied / service)
    for file in WHOLE.glob("*.json"):
        shutil.copy(file, copied)
    cut(copied)
    return copied


def _names(tree: ast.AST) -> set[str]:
    """Give what is called as a method or named in a text, as a paginator's operation is."""
    return {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)} | {
        node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }


def test_the_operations_kept_are_those_the_adapter_calls() -> None:
    """An operation that is called and not kept would be missing in AWS and nowhere else."""
    trees = [ast.parse(path.read_text()) for path in (ROOT / "adapter").rglob("*.py")]
    named = set[str]().union(*map(_names, trees))
    assumes_roles = any("AssumeRoleCredentialFetcher" in ast.dump(tree) for tree in trees)
    called = {
        (service, operation)
        for service in OPERATIONS
        for operation in _model(WHOLE, service)["operations"]
        # One word alone, like DataZone's Search, is anybody's.
        if ("_" in xform_name(operation) and xform_name(operation) in named)
        or (operation == "AssumeRole" and assumes_roles)
    }
    assert called == set(CALLS)


def test_the_services_kept_are_those_the_adapter_makes_clients_of(data: Path) -> None:
    """Each client finds its service's description, and no other is uploaded."""
    trees = [ast.parse(path.read_text()) for path in (ROOT / "adapter").rglob("*.py")]
    calls = [node for tree in trees for node in ast.walk(tree) if isinstance(node, ast.Call)]
    assert {name for call in calls for name in _client_of(call)} | {"sts"} == set(OPERATIONS)
    assert {path.name for path in data.glob("*/")} == set(OPERATIONS)


def _client_of(call: ast.Call) -> list[str]:
    makes = isinstance(call.func, ast.Attribute) and call.func.attr in {"client", "create_client"}
    return [str(call.args[0].value)] if makes and call.args and isinstance(call.args[0], ast.Constant) else []


@pytest.mark.parametrize(("service", "operation"), CALLS)
def test_each_call_is_sent_and_its_answer_and_errors_are_read_as_with_the_whole_description(
    data: Path, service: str, operation: str
) -> None:
    errors = [name for name, shape in _model(WHOLE, service)["shapes"].items() if shape.get("exception")]
    whole, less = (_talk(where, service, operation, [*errors, "InvalidRequest"]) for where in (WHOLE, data))
    assert less == whole


def _talk(where: Path, service: str, operation: str, errors: list[str]) -> tuple[Any, ...]:
    """Give what is sent, what an answer is taken for, and what each error is."""
    client = _client(where, service)
    sent: list[Any] = []
    answers = [(200, {}, ANSWERS[operation]), *(_error(service, code) for code in errors)]

    def answered(request: AWSPreparedRequest, **_: object) -> AWSResponse:
        sent.append((request.method, request.url, _steady(request.headers), _read(request.body)))
        status, headers, body = answers[len(sent) - 1]
        return AWSResponse(request.url, status, HTTPHeaders.from_dict(headers), _Raw(body.encode()))

    # An answer in place of the request: botocore's own seam, which its types do not know to return something.
    client.meta.events.register("before-send", cast("Any", answered))
    call = getattr(client, xform_name(operation))
    heard: list[Any] = [_plain(call(**PARAMETERS[operation]))]
    for _ in errors:
        with pytest.raises(ClientError) as refused:
            call(**PARAMETERS[operation])
        heard.append((type(refused.value).__name__, refused.value.response))
    return sent, heard


def _client(where: Path, service: str) -> BaseClient:
    session = get_session()
    session.register_component("data_loader", Loader([str(where)], include_default_search_paths=False))
    session.set_default_client_config(botocore.config.Config(retries={"total_max_attempts": 1}))
    session.set_credentials("AKIAIOSFODNN7EXAMPLE", "secret", "token")
    return session.create_client(service, "eu-central-1")


def _steady(headers: Any) -> dict[str, str]:  # noqa: ANN401 - botocore's own kind of mapping
    """Leave out what differs from one call to the next: its time and number, and the signature made of them."""
    kept = {name: _text(value) for name, value in headers.items()}
    for name in ("X-Amz-Date", "amz-sdk-invocation-id"):
        kept.pop(name, None)
    scope = kept.get("Authorization", "").partition("Signature=")[0]
    return kept | {"Authorization": re.sub(r"/\d{8}/", "/", scope)}


def _text(value: str | bytes) -> str:
    return value.decode() if isinstance(value, bytes) else value


class _Raw(BytesIO):
    """As urllib3 gives an answer's body."""

    def stream(self) -> list[bytes]:
        return [self.read()]


def _error(service: str, code: str) -> tuple[int, dict[str, str], str]:
    if service in {"s3", "sts"}:
        body = f"<Error><Code>{code}</Code><Message>no</Message></Error>"
        return 400, {}, body if service == "s3" else f"<ErrorResponse>{body}</ErrorResponse>"
    return 400, {"x-amzn-ErrorType": code}, json.dumps({"__type": code, "message": "no", "resourceId": "it"})


def _plain(answer: dict[str, Any]) -> dict[str, Any]:
    """Read what is still to be read of an answer."""
    return {name: _read(value) for name, value in answer.items()}


def _read(body: Any) -> Any:  # noqa: ANN401 - any value, and bytes in place of a stream of them
    return body.read() if hasattr(body, "read") else body


def test_every_region_of_every_partition_has_the_endpoints_it_had(data: Path) -> None:
    """For each service and region there is, and for one that there will be."""
    whole, less = (json.loads((where / "endpoints.json").read_bytes()) for where in (WHOLE, data))
    regions = {region for partition in whole["partitions"] for region in partition["regions"]} | {"eu-north-9"}
    assert len(regions) > 40
    for asked in product(OPERATIONS, regions, (False, True), (False, True)):
        assert _endpoint(less, *asked) == _endpoint(whole, *asked), asked


def _endpoint(endpoints: dict[str, Any], service: str, region: str, dual: bool, fips: bool) -> Any:  # noqa: ANN401, FBT001 - botocore's dictionary; as product gives them
    resolver = EndpointResolver(endpoints)
    try:
        return resolver.construct_endpoint(service, region, use_dualstack_endpoint=dual, use_fips_endpoint=fips)
    except EndpointVariantError as error:
        return str(error)


def test_rules_that_make_an_address_of_a_region_are_kept_as_they_are(data: Path) -> None:
    kept = [*data.glob("*/*/endpoint-rule-set-1.json.gz"), data / "partitions.json"]
    assert len(kept) == len(OPERATIONS) + 1
    for path in kept:
        assert path.read_bytes() == (WHOLE / path.relative_to(data)).read_bytes()


def test_what_is_read_at_a_cold_start_is_small(data: Path) -> None:
    read = [*data.glob("*/*/service-2.json.gz"), data / "endpoints.json"]
    sizes = [len(gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()) for path in read]
    assert sum(sizes) < 100_000, "megabytes when whole"


def test_the_same_descriptions_are_cut_to_the_same_bytes(data: Path) -> None:
    """No time is written into them, so a package built twice is one package; and to cut twice is harmless."""
    before = {path: path.read_bytes() for path in data.rglob("*.json*")}
    cut(data)
    assert {path: path.read_bytes() for path in data.rglob("*.json*")} == before


def _model(where: Path, service: str) -> dict[str, Any]:
    (path,) = where.glob(f"{service}/*/service-2.json.gz")
    model: dict[str, Any] = json.loads(gzip.decompress(path.read_bytes()))
    return model
