"""Break each rule of the judging code, one at a time, and see whether a test notices.

`python -m tools.mutate` changes an operator, a constant, a branch, a code and so on in the modules of TARGETS, in
memory only, and runs their unit tests on each change in a process of its own. It fails if a change survives that
equivalent.txt does not explain, or if that explains one that is noticed or is not made at all.
"""

# ruff: noqa: T201 - its output is its purpose

from __future__ import annotations

import ast
import importlib
import os
import signal
import sys
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

# Loaded here, before anything is forked: it takes longer than most of the tests.
import hypothesis  # noqa: F401 - see above
import jsonschema_rs  # noqa: F401 - see above
import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parent.parent
# Each module, and the tests that are to notice.
TARGETS = {
    "adapter.accept": ("tests/unit/test_accept_details.py", "tests/unit/test_accept.py"),
    "adapter.text": ("tests/unit/test_text.py", "tests/unit/test_accept.py"),
    "adapter.size": ("tests/unit/test_size.py", "tests/unit/test_accept_details.py", "tests/unit/test_accept.py"),
    "adapter.pointer": ("tests/unit/test_pointer.py", "tests/unit/test_spec.py"),
    "adapter.spec": ("tests/unit/test_spec.py",),
}
# A change that makes the code loop for ever is noticed by the clock; the slowest of the tests need a fraction of this.
SECONDS = 60

_OTHER: dict[type[ast.AST], type[ast.AST]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.And: ast.Or,
    ast.Or: ast.And,
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
}


@dataclass(frozen=True, slots=True)
class Mutant:
    """One change of one module: `name` shows it to a person, `source` is the module with it."""

    module: str
    name: str
    source: str


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a node hangs in the tree: in `field` of `holder`, as its element `index` if that is a list."""

    holder: ast.AST
    field: str
    index: int | None
    node: ast.AST

    def put(self, node: ast.AST) -> None:
        if self.index is None:
            setattr(self.holder, self.field, node)
        else:
            getattr(self.holder, self.field)[self.index] = node


def mutants(module: str) -> Iterator[Mutant]:
    """Make every change of `module` that this tool knows."""
    tree = ast.parse(_file(module).read_bytes())
    original = ast.unparse(tree)
    for place in list(_places(tree)):
        for other in _alternatives(place):
            place.put(other)
            source = ast.unparse(ast.fix_missing_locations(tree))
            yield Mutant(module, f"{module}: {_difference(original, source)}", source)
        place.put(place.node)


def _difference(original: str, source: str) -> str:
    lines = zip(original.splitlines(), source.splitlines(), strict=False)
    before, after = next((one, other) for one, other in lines if one != other)
    return f"{before.strip()}  ->  {after.strip()}"


def _places(holder: ast.AST) -> Iterator[_Place]:
    for field, value in ast.iter_fields(holder):
        for index, node in enumerate(value) if isinstance(value, list) else [(None, value)]:
            if isinstance(node, ast.AST) and not _is_idle(holder, field, node):
                yield _Place(holder, field, index, node)
                yield from _places(node)


def _is_idle(holder: ast.AST, field: str, node: ast.AST) -> bool:
    """Leave out what does not run (types, imports, documentation) and what is not a rule (the words of messages)."""
    match holder, node:
        case _, ast.Import() | ast.ImportFrom() | ast.JoinedStr() | ast.If(test=ast.Name(id="TYPE_CHECKING")):
            return True
        case _, ast.Expr(value=ast.Constant()) | ast.Assign(targets=[ast.Name(id="_SWITCHES")]):
            return True
        case ast.Call(func=ast.Name(id="cast")), ast.Constant():
            return True
        case _:
            return field in {"annotation", "returns", "decorator_list", "type_params"}


def _alternatives(place: _Place) -> Iterator[ast.AST]:
    node = place.node
    if place.field in {"test", "ifs", "guard"}:
        yield from (ast.Constant(value) for value in (True, False))
    if isinstance(place.holder, ast.ExceptHandler) and place.field == "type":
        yield ast.Tuple([], ast.Load())
    if isinstance(place.holder, ast.Slice):
        yield ast.Constant(None)
    if type(node) in _OTHER:
        yield _OTHER[type(node)]()
    yield from _other_nodes(node)


def _other_nodes(node: ast.AST) -> Iterator[ast.AST]:
    match node:
        case ast.Constant(value=value):
            yield from (ast.Constant(other) for other in _other_values(value))
        case ast.Attribute(value=ast.Name(id="Code"), attr=code):
            yield ast.Attribute(ast.Name("Code"), "NOT_JSON" if code != "NOT_JSON" else "TOO_DEEP")
        case ast.BoolOp(values=values):
            yield from values
        case ast.UnaryOp(operand=operand):
            yield operand
        case ast.Call(func, args, keywords):
            yield from (ast.Call(func, args, [one for one in keywords if one is not each]) for each in keywords)
        case ast.Return(value=ast.expr() as value) if not isinstance(value, ast.Constant):
            yield ast.Return()
        case ast.Expr() | ast.Assign() | ast.AugAssign() | ast.Raise():
            yield ast.Pass()


def _other_values(value: object) -> Iterator[bool | int | str]:
    match value:
        case bool():
            yield not value
        case int():
            yield from (value + 1, value - 1)
        case str() if " " not in value:  # a key or a name, not the words of a message
            yield value + "x"


def survives(mutant: Mutant) -> None:
    """Run the module's tests on `mutant` and end this process: with status 0 if none of them notices."""
    signal.alarm(SECONDS)
    with Path(os.devnull).open("w") as nowhere:
        os.dup2(nowhere.fileno(), 1)
        os.dup2(nowhere.fileno(), 2)
    _install(mutant)
    tests = [str(ROOT / test) for test in TARGETS[mutant.module]]
    # pytest would rather have loaded its plugins itself.
    options = ["-x", "-q", "-p", "no:cacheprovider", "-W", "ignore::pytest.PytestAssertRewriteWarning"]
    os._exit(pytest.main([*options, *tests]))


def _install(mutant: Mutant) -> None:
    package, _, name = mutant.module.rpartition(".")
    module = ModuleType(mutant.module)
    module.__file__ = str(_file(mutant.module))
    sys.modules[mutant.module] = module
    setattr(importlib.import_module(package), name, module)
    exec(compile(mutant.source, module.__file__, "exec"), module.__dict__)  # noqa: S102 - our own module, changed


def _file(module: str) -> Path:
    return (ROOT / module.replace(".", "/")).with_suffix(".py")


def survivors(waiting: list[Mutant]) -> Iterator[Mutant]:
    """Empty `waiting`, running a few at a time, and give those that no test noticed."""
    running: dict[int, Mutant] = {}
    while waiting or running:
        while waiting and len(running) < (os.cpu_count() or 1):
            mutant = waiting.pop()
            if pid := os.fork():
                running[pid] = mutant
            else:
                survives(mutant)
        pid, status = os.wait()
        mutant = running.pop(pid)
        if status == 0:
            yield mutant


def main(modules: list[str]) -> int:
    """Report on `modules`, or all; give 0 if every change is noticed or explained, else 1."""
    modules = modules or list(TARGETS)
    unchanged = [Mutant(module, module, _file(module).read_text("utf-8")) for module in modules]
    if len(list(survivors(unchanged))) < len(modules):
        print("the tests fail without any change")
        return 1
    made = [mutant for module in modules for mutant in mutants(module)]
    many = len(made)
    survived = {mutant.name for mutant in survivors(made)}
    lines = (ROOT / "tools" / "equivalent.txt").read_text("utf-8").splitlines()
    explained = {line for line in lines if line.partition(":")[0] in modules}
    for name in sorted(survived - explained):
        print(f"survived: {name}")
    for name in sorted(explained - survived):
        print(f"explained, but noticed or not made: {name}")
    print(f"{many} changes, {len(survived & explained)} of them without effect")
    return int(survived != explained)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
