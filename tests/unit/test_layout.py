"""Imports point inward, the model stands alone, and one module reads the environment."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import pytest

ADAPTER = Path(__file__).parents[2] / "adapter"

# From the inside out: a module may import from its own row and those above it.
ROWS = (
    {"model", "pointer"},
    {"settings", "text", "spec", "facets", "body", "batch", "kpl", "producers", "metrics", "connections", "emitter"},
    {"size"},
    {"accept"},
    {
        "ingest",
        "datazone",
        "metrics",
        "telemetry",
        "backlog",
        "quarantine",
        "aws",
        "found",
        "processing",
        "secret",
        "archive",
    },
    {"lanes", "breaker", "memory", "reconcile"},
    {"reconcile_telemetry"},
    {"doors"},
    {"bootstrap"},
    {"handlers"},
)
TYPES = {f"mypy_boto3_{service}" for service in ("datazone", "s3", "secretsmanager", "sqs")}
MODULES = sorted(path.relative_to(ADAPTER).with_suffix("") for path in ADAPTER.rglob("*.py"))


def _row(name: str) -> int:
    return next(place for place, row in enumerate(ROWS) if name in row)


def _imported(path: Path) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module == "adapter":
            names |= {f"adapter.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module)
    return names


@pytest.mark.parametrize("module", MODULES, ids=str)
def test_imports_point_inward(module: Path) -> None:
    """No module imports from further out than itself, and every module has its row."""
    if module.name == "__init__":
        return
    ours = {name.split(".")[1] for name in _imported(ADAPTER / f"{module}.py") if name.startswith("adapter.")}
    assert all(_row(name) <= _row(module.parts[0]) for name in ours)


def test_the_model_imports_the_standard_library_only() -> None:
    assert {name.split(".")[0] for name in _imported(ADAPTER / "model.py")} <= sys.stdlib_module_names


def test_only_the_handlers_touch_the_environment() -> None:
    """Everything else is told by its arguments."""
    assert {module.parts[0] for module in MODULES if "os" in _imported(ADAPTER / f"{module}.py")} == {"handlers"}


def test_each_aws_service_is_known_by_one_module() -> None:
    """And all clients are made in one, with DataZone's connections in another."""
    knowing = {
        str(module)
        for module in MODULES
        if {name.split(".")[0] for name in _imported(ADAPTER / f"{module}.py")} & {"boto3", "botocore"}
    }
    assert knowing == {
        "aws",
        "connections",
        "datazone",
        "backlog",
        "quarantine",
        "found",
        "processing",
        "secret",
        "archive",
    }


def test_the_package_imports_nothing_that_production_does_not_bundle() -> None:
    allowed = sys.stdlib_module_names | {"adapter", "boto3", "botocore", "aws_lambda_powertools", "jsonschema_rs"}
    for module in MODULES:
        runtime = {name.split(".")[0] for name in _imported(ADAPTER / f"{module}.py")}
        assert runtime - allowed <= TYPES, module
