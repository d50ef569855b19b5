"""Each way to deploy, its conditions decided, for linters that see only one: `python -m tools.variants FOLDER`.

Writes FOLDER/<name>.json for each of VARIANTS. The parameters' given values are their defaults there, so that a linter
which resolves them sees what CloudFormation would.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from tools.translate import settled, translated

KEY = {"KmsKeyArn": "arn:aws:kms:us-east-1:123456789012:key/12345678-1234-1234-1234-123456789012"}
STREAM = {"EnableStream": "true"}
WRITERS = {**STREAM, **KEY, "StreamWriterAccounts": "111111111111,222222222222"}
ORGANIZATION = {**STREAM, **KEY, "StreamWriterOrganization": "o-a1b2c3d4e5"}
OPEN = {"Access": "open"}
JWT = {"Access": "jwt", "JwtIssuer": "https://login.example.com/pool", "JwtAudience": "lineage,lineage-test"}
HOST = {
    "HostName": "lineage.example.com",
    "HostCertificateArn": "arn:aws:acm:us-east-1:123456789012:certificate/12345678-1234-1234-1234-123456789012",
    "HostZoneId": "Z0123456789ABCDEFGHIJ",
}
MUTUAL_TLS = {**HOST, "TruststoreUri": "s3://truststore/lineage.pem"}
PRIVATE = {"VpcEndpointIds": "vpce-0123456789abcdef0,vpce-0123456789abcdef1"}
VPC = {
    "SubnetIds": "subnet-0123456789abcdef0,subnet-0123456789abcdef1",
    "SecurityGroupIds": "sg-0123456789abcdef0",
}
# A domain in another account and region, and every concurrency reserved.
ELSEWHERE = {
    "DomainRegion": "eu-central-1",
    "DomainRoleArn": "arn:aws:iam::210987654321:role/lineage",
    "HttpConcurrency": "100",
    "KinesisConcurrency": "10",
    "StreamShards": "4",
    "AlarmTopicArn": "arn:aws:sns:us-east-1:123456789012:on-call",
}
ARCHIVE = {"ArchiveEvents": "true"}
EMAIL = {"AlarmEmail": "on-call@example.com"}
SILENCE = {"SilenceMinutes": "120"}
WIDER = {"DomainResource": "*"}

VARIANTS: dict[str, dict[str, str]] = {
    "default": {},
    "key": KEY,
    "stream": STREAM,
    "writers": WRITERS,
    "organization": ORGANIZATION,
    "jwt": JWT,
    "open": OPEN,
    "host": HOST,
    "mutual-tls": MUTUAL_TLS,
    "private": PRIVATE,
    "private-open": {**PRIVATE, **OPEN},
    "vpc": VPC,
    "elsewhere": {**STREAM, **ELSEWHERE},
    "wider": WIDER,
    "archive": ARCHIVE,
    "email": {**EMAIL, **SILENCE},
    "no-dashboard": {"Dashboard": "false"},
    "email-key": {**EMAIL, **KEY},
    "everything": {**WRITERS, **ORGANIZATION, **MUTUAL_TLS, **PRIVATE, **VPC, **ELSEWHERE, **ARCHIVE, **SILENCE},
    "everything-jwt": {**WRITERS, **ORGANIZATION, **MUTUAL_TLS, **VPC, **ELSEWHERE, **JWT},
}


def write(folder: Path) -> None:
    """Write a template for each variant into `folder`, which is made if need be."""
    folder.mkdir(parents=True, exist_ok=True)
    whole = translated()
    for name, parameters in VARIANTS.items():
        (folder / f"{name}.json").write_text(json.dumps(settled(whole, parameters), indent=2))


if __name__ == "__main__":
    write(Path(sys.argv[1]))
