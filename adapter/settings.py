"""The environment, read once. No other module reads it, and a test holds template.yaml to these names."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from adapter.model import Access, FormatAssertion

if TYPE_CHECKING:
    from collections.abc import Mapping

# Amazon DataZone API reference, PostLineageEvent, domainIdentifier. botocore does not check it.
DOMAIN_ID = re.compile(r"dzd[-_][a-zA-Z0-9_-]{1,36}")
REGION = re.compile(r"[a-z]{2}(-[a-z]+)+-[0-9]")
ROLE_ARN = re.compile(r"arn:aws[a-z-]*:iam::[0-9]{12}:role/[\w+=,.@/-]+", re.ASCII)
QUEUE_URL = re.compile(r"https?://[^\s/]+/[^\s]+")
BUCKET = re.compile(r"[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]")
SECRET_ARN = re.compile(r"arn:aws[a-z-]*:secretsmanager:[a-z0-9-]+:[0-9]{12}:secret:[\w/+=.@-]+", re.ASCII)
# A JWT's claims are called by short names or by a URL of the issuer's.
CLAIM = re.compile(r"[\w:/.-]{1,128}", re.ASCII)


class SettingsError(Exception):
    """The environment is incomplete or wrong; the message names every bad variable at once."""


@dataclass(frozen=True, slots=True)
class Settings:
    """What a function is told by its environment.

    `domain_role_arn` is assumed to reach a domain in another account. `lanes` is how many events the Kinesis door
    delivers at the same time. `backlog_url` and `quarantine_bucket` are where events wait and are kept,
    `archive_bucket` where what is delivered is kept too, if it is to be. `producers_secret` is the ARN of the secret
    that adapter/producers.py describes; `producer_claim` names a producer in a JWT.
    """

    domain_id: str
    domain_region: str
    domain_role_arn: str | None
    format_assertion: FormatAssertion
    lanes: int
    backlog_url: str
    quarantine_bucket: str
    access: Access
    producers_secret: str
    producer_claim: str
    archive_bucket: str | None = None


VARIABLES = (
    "DOMAIN_ID",
    "DOMAIN_REGION",
    "DOMAIN_ROLE_ARN",
    "FORMAT_ASSERTION",
    "LANES",
    "BACKLOG_URL",
    "QUARANTINE_BUCKET",
    "ACCESS",
    "PRODUCERS_SECRET",
    "PRODUCER_CLAIM",
    "ARCHIVE_BUCKET",
)


def read(environment: Mapping[str, str]) -> Settings:
    """Parse `environment`; raise SettingsError naming all missing or bad variables together.

    DOMAIN_ID, DOMAIN_REGION, BACKLOG_URL, QUARANTINE_BUCKET and PRODUCERS_SECRET are required. DOMAIN_ROLE_ARN and
    ARCHIVE_BUCKET may be empty. FORMAT_ASSERTION is `strict` (default) or `warn`. LANES is 1 to 128 (default 32).
    ACCESS is `tokens` (default), `jwt` or `open`; PRODUCER_CLAIM is `sub` by default.
    """
    role = environment.get("DOMAIN_ROLE_ARN", "")
    assertion = environment.get("FORMAT_ASSERTION", FormatAssertion.STRICT)
    lanes = environment.get("LANES", "32")
    access = environment.get("ACCESS", Access.TOKENS)
    claim = environment.get("PRODUCER_CLAIM", "sub")
    archive = environment.get("ARCHIVE_BUCKET", "")
    checks = {
        "DOMAIN_ID (like dzd_1a2b3c)": DOMAIN_ID.fullmatch(environment.get("DOMAIN_ID", "")),
        "DOMAIN_REGION (like eu-central-1)": REGION.fullmatch(environment.get("DOMAIN_REGION", "")),
        "DOMAIN_ROLE_ARN (empty or a role's ARN)": not role or ROLE_ARN.fullmatch(role),
        "FORMAT_ASSERTION (strict or warn)": assertion in set(FormatAssertion),
        "LANES (1 to 128)": re.fullmatch(r"[1-9][0-9]?|1[01][0-9]|12[0-8]", lanes),
        "BACKLOG_URL (of an SQS queue)": QUEUE_URL.fullmatch(environment.get("BACKLOG_URL", "")),
        "QUARANTINE_BUCKET (a bucket's name)": BUCKET.fullmatch(environment.get("QUARANTINE_BUCKET", "")),
        "ACCESS (tokens, jwt or open)": access in set(Access),
        "PRODUCERS_SECRET (a secret's ARN)": SECRET_ARN.fullmatch(environment.get("PRODUCERS_SECRET", "")),
        "PRODUCER_CLAIM (a JWT's claim, like sub)": CLAIM.fullmatch(claim),
        "ARCHIVE_BUCKET (empty or a bucket's name)": not archive or BUCKET.fullmatch(archive),
    }
    if wrong := [name for name, good in checks.items() if not good]:
        raise SettingsError(f"missing or wrong environment variables: {', '.join(wrong)}")
    return Settings(
        domain_id=environment["DOMAIN_ID"],
        domain_region=environment["DOMAIN_REGION"],
        domain_role_arn=role or None,
        format_assertion=FormatAssertion(assertion),
        lanes=int(lanes),
        backlog_url=environment["BACKLOG_URL"],
        quarantine_bucket=environment["QUARANTINE_BUCKET"],
        access=Access(access),
        producers_secret=environment["PRODUCERS_SECRET"],
        producer_claim=claim,
        archive_bucket=archive or None,
    )
