"""The AWS clients, each told everything explicitly: botocore's defaults have changed between versions."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import boto3
from botocore.config import Config
from botocore.credentials import (
    AssumeRoleCredentialFetcher,
    CredentialProvider,
    CredentialResolver,
    DeferredRefreshableCredentials,
)
from botocore.handlers import add_expect_header
from botocore.httpsession import get_cert_path
from botocore.session import get_session
from botocore.utils import get_environ_proxies

from adapter.connections import Connections

if TYPE_CHECKING:
    from botocore.session import Session
    from mypy_boto3_datazone import DataZoneClient
    from mypy_boto3_s3 import S3Client
    from mypy_boto3_secretsmanager import SecretsManagerClient
    from mypy_boto3_sqs import SQSClient

    from adapter.settings import Settings

# Credentials are renewed within a call, so this comes on top of one attempt, about once an hour.
_STS = Config(connect_timeout=0.3, read_timeout=0.5, retries={"mode": "standard", "total_max_attempts": 1})


@dataclass(frozen=True, slots=True)
class Patience:
    """How long one attempt may take, in seconds: to connect, then for each read of the answer."""

    connect: float
    read: float

    @property
    def attempt(self) -> float:
        """The longest that one attempt takes."""
        return self.connect + self.read


def datazone(settings: Settings, patience: Patience) -> DataZoneClient:
    """Make a client for the domain's region, under the role to assume if there is one."""
    client = _datazone(settings, _config(settings, patience))
    # What goes through a proxy is left to botocore.
    if not get_environ_proxies(client.meta.endpoint_url):
        authorities = str(get_cert_path(get_session().get_config_variable("ca_bundle") or True))
        connections = Connections(client.meta.endpoint_url, patience.connect, patience.read, authorities)
        # botocore's types know no handler that answers.
        client.meta.events.register("before-send.datazone.PostLineageEvent", connections)  # type: ignore[arg-type]
    return client


def _datazone(settings: Settings, config: Config) -> DataZoneClient:
    if settings.domain_role_arn is None:
        # boto3's own session, which the other clients share: one more would read and make everything anew.
        return boto3.client("datazone", settings.domain_region, config=config)
    session = assumed(settings.domain_role_arn, settings.domain_region)
    return boto3.Session(botocore_session=session).client("datazone", settings.domain_region, config=config)


def sqs(settings: Settings, patience: Patience) -> SQSClient:
    """Make a client for the backlog, in the function's own region."""
    return boto3.client("sqs", config=_config(settings, patience))


def s3(settings: Settings, patience: Patience) -> S3Client:
    """Make a client for the quarantine, in the function's own region."""
    client = boto3.client("s3", config=_config(settings, patience))
    # It asks S3 before it sends a body (Expect: 100-continue) and waits for up to a second, which no timeout counts.
    client.meta.events.unregister("before-call.s3", add_expect_header)
    return client


def secretsmanager(settings: Settings, patience: Patience) -> SecretsManagerClient:
    """Make a client for the secret of producers, in the function's own region."""
    return boto3.client("secretsmanager", config=_config(settings, patience))


def _config(settings: Settings, patience: Patience) -> Config:
    return Config(
        connect_timeout=patience.connect,
        read_timeout=patience.read,
        # Who calls knows how long there is for another attempt; botocore bounds their number only.
        retries={"mode": "standard", "total_max_attempts": 1},
        max_pool_connections=settings.lanes,
        # A fixed name spares botocore from describing itself anew in each call, a tenth of its cost.
        user_agent="lineage-adapter",
        # Settings and the program vouch for what is sent; botocore checks neither DataZone's bounds nor its patterns.
        parameter_validation=False,
    )


def assumed(role_arn: str, region: str) -> Session:
    """Make a session that signs with temporary credentials of `role_arn`, fetched when needed and renewed in time."""
    own = get_session()
    fetcher = AssumeRoleCredentialFetcher(
        client_creator=partial(own.create_client, region_name=region, config=_STS),
        source_credentials=own.get_credentials(),
        role_arn=role_arn,
        extra_args={"RoleSessionName": "lineage-adapter"},
    )
    session = get_session()
    session.register_component("credential_provider", CredentialResolver([_AssumedRole(fetcher)]))
    return session


class _AssumedRole(CredentialProvider):
    """The only credentials of a session: those of the role."""

    METHOD = "assume-role"

    def __init__(self, fetcher: AssumeRoleCredentialFetcher) -> None:
        super().__init__()
        self._fetcher = fetcher

    def load(self) -> DeferredRefreshableCredentials:
        return DeferredRefreshableCredentials(self._fetcher.fetch_credentials, self.METHOD)
