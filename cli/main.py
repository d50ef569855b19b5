"""The entry point of `lineage-adapter`: its commands, and one clear line where one of them cannot go on."""

from __future__ import annotations

import sys

import click

from cli.backlog import backlog
from cli.doctor.command import doctor
from cli.lint import lint
from cli.quarantine import quarantine
from cli.replay import replay
from cli.sending import INTERRUPTED
from cli.status import status
from cli.token import token
from cli.verify import verify


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="lineage-adapter", message="%(prog)s %(version)s")
def group() -> None:
    """Operate the OpenLineage to DataZone adapter."""


group.add_command(replay)
group.add_command(lint)
group.add_command(quarantine)
group.add_command(backlog)
group.add_command(token)
group.add_command(status)
group.add_command(verify)
group.add_command(doctor)


def main() -> None:
    """Run what was typed and exit with its status."""
    try:
        status = group(prog_name="lineage-adapter", standalone_mode=False)
    except click.ClickException as error:
        error.show()
        status = error.exit_code
    except click.Abort:
        status = INTERRUPTED
    sys.exit(status)
