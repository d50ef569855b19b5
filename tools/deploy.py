"""Deploys what was built: `python -m tools.deploy SAM [OPTION…]`, the options being those of `sam deploy`.

Checks first what sam would only stumble over late: that there are credentials, and a domain to post to. As long as no
domain is named, sam asks for it and every other parameter, and keeps the answers in samconfig.toml.
"""

from __future__ import annotations

import os
import sys
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

from boto3 import Session

if TYPE_CHECKING:
    from collections.abc import Sequence

CONFIG = Path("samconfig.toml")  # where sam looks for it, too

NO_CREDENTIALS = (
    "deploy: no AWS credentials found. Log in (aws sso login, aws configure) or name a profile (AWS_PROFILE=…), "
    "then run make deploy again. Nothing was changed."
)
NO_DOMAIN = (
    "deploy: no DataZone domain is named, and there is no terminal to ask at. Add DomainId=dzd_… to "
    "parameter_overrides under [default.deploy.parameters] in samconfig.toml, or run "
    'make deploy OPTIONS="--parameter-overrides DomainId=dzd_…". Nothing was changed.'
)


def names_domain(config: str, options: Sequence[str]) -> bool:
    """Say whether DomainId is given, by `config` (samconfig.toml's text) or by `options` (of `sam deploy`)."""
    deploy = tomllib.loads(config).get("default", {}).get("deploy", {}).get("parameters", {})
    return "DomainId=" in str(deploy.get("parameter_overrides", "")) or any("DomainId=" in option for option in options)


def main(sam: str, options: Sequence[str]) -> None:
    """Become `sam deploy`, or exit with a message."""
    if Session().get_credentials() is None:
        sys.exit(NO_CREDENTIALS)
    guided = [] if names_domain(CONFIG.read_text(), options) else ["--guided"]
    if guided and not sys.stdin.isatty():
        sys.exit(NO_DOMAIN)
    os.execv(sam, [sam, "deploy", *guided, *options])  # noqa: S606 - the path comes from the Makefile


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
