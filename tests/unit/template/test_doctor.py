"""What doctor asks a stack for by name is in the template, and the local stack lists its parts as SAM makes them."""

from __future__ import annotations

import re
from pathlib import Path

import cli.doctor
from cli.doctor import working
from local import resources
from local import template as local
from local.system import PARAMETERS as LOCAL
from local.system import TEMPLATE as FILE
from tests.unit.template.deployed import DEPLOYED, PARAMETERS, TEMPLATE

SOURCE = "".join(path.read_text() for path in Path(cli.doctor.__file__).parent.glob("*.py"))


def test_every_output_that_is_read_is_there() -> None:
    read = set(re.findall(r'outputs?(?:\(|\.get\()"(\w+)"', SOURCE))
    assert {"PrivateUrl", "DomainId", "BacklogUrl", "ProducersSecretArn"} <= read <= TEMPLATE["Outputs"].keys()


def test_every_parameter_that_is_read_is_there() -> None:
    read = set(re.findall(r'parameters\.get\("(\w+)"', SOURCE))
    assert {"Access", "KmsKeyArn", "DomainRoleArn"} <= read <= PARAMETERS.keys()


def test_every_role_that_reaches_the_domain_is_asked_about() -> None:
    reach = {
        name
        for name, resource in DEPLOYED.items()
        if resource["Type"] == "AWS::IAM::Role" and re.search(r"'Domain(Read)?Policy'", str(resource))
    }
    assert working.ROLES.keys() == reach


def test_the_local_stack_lists_its_parts_as_sam_makes_them() -> None:
    read = resources.named(local.read(FILE, LOCAL, resources.PSEUDO_PARAMETERS), "http://aws")
    listed = {one.logical_id: one.type for one in resources.stack(read, "http://adapter").resources}
    assert listed == {name: DEPLOYED[name]["Type"] for name in listed}
    assert "BacklogFunctionBacklog" in listed
