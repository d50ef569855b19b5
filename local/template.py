"""template.yaml as CloudFormation and SAM would read it: parameters, conditions and references resolved.

The local system takes the functions' environment, routes and mappings from here, so it cannot drift from what is
deployed. What is not understood is an error and never a guess.

Source: AWS CloudFormation user guide, "Intrinsic function reference"; AWS SAM developer guide, "Globals section".
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import yaml

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

# CloudFormation's own defaults for a function, in seconds and MB.
_TIMEOUT = 3
_MEMORY = 128

_NO_VALUE = object()
_PLACEHOLDER = re.compile(r"\$\{([^!}][^}]*)\}")


class TemplateError(Exception):
    """The template, or what was asked of it, cannot be resolved; the message names the place."""


@dataclass(frozen=True, slots=True)
class Physical:
    """What a resource is once it exists: what Ref gives, and what Fn::GetAtt gives."""

    ref: str
    attributes: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class EventSource:
    """What invokes a function: a type as SAM names it (HttpApi, Kinesis, SQS …) and its resolved properties."""

    name: str
    type: str
    properties: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Function:
    """A Lambda function: `timeout` in seconds, `memory` in MB, the environment as the function will see it."""

    logical_id: str
    name: str
    handler: str
    timeout: int
    memory: int
    environment: Mapping[str, str]
    events: tuple[EventSource, ...]


@dataclass(frozen=True, slots=True)
class Template:
    """A template with values for its parameters and pseudo parameters, and the physical ids known so far."""

    document: Mapping[str, Any]
    parameters: Mapping[str, object]
    physical: Mapping[str, Physical] = field(default_factory=dict)

    def logical_ids(self) -> list[str]:
        """Give the logical id of each resource whose condition holds."""
        return [logical_id for logical_id, resource in self.document["Resources"].items() if self._exists(resource)]

    def resources(self, kind: str) -> dict[str, Mapping[str, Any]]:
        """Give the raw properties of each resource of type `kind` whose condition holds, by logical id."""
        all_of_them = self.document["Resources"]
        return {
            logical_id: all_of_them[logical_id].get("Properties", {})
            for logical_id in self.logical_ids()
            if all_of_them[logical_id]["Type"] == kind
        }

    def outputs(self) -> dict[str, Mapping[str, Any]]:
        """Give each output whose condition holds, by its name and as it is written."""
        return {name: output for name, output in self.document.get("Outputs", {}).items() if self._exists(output)}

    def functions(self) -> list[Function]:
        """Give each AWS::Serverless::Function whose condition holds, Globals merged in."""
        shared = self.document.get("Globals", {}).get("Function", {})
        found = self.resources("AWS::Serverless::Function")
        return [self._function(logical_id, _merged(shared, properties)) for logical_id, properties in found.items()]

    def holds(self, condition: str) -> bool:
        """Say whether `condition` holds. Raises TemplateError if there is none of that name."""
        return self._condition(condition, "Conditions")

    def resolve(self, node: object, where: str) -> Any:  # noqa: ANN401 - a template holds any JSON
        """Resolve all intrinsic functions in `node`; `where` is the way to it. Raises TemplateError where it cannot."""
        match node:
            case {"Ref": str(name)}:
                return self._ref(name, where)
            case {"Condition": str(name), **rest} if not rest:
                return self._condition(name, where)
            case dict() if len(node) == 1 and (intrinsic := next(iter(node))).startswith("Fn::"):
                return self._intrinsic(intrinsic, node[intrinsic], f"{where} {intrinsic}")
            case dict():
                resolved = {key: self.resolve(value, f"{where}.{key}") for key, value in node.items()}
                return {key: value for key, value in resolved.items() if value is not _NO_VALUE}
            case list():
                items = [self.resolve(item, f"{where}[{index}]") for index, item in enumerate(node)]
                return [item for item in items if item is not _NO_VALUE]
            case _:
                return node

    def _exists(self, resource: Mapping[str, Any]) -> bool:
        return "Condition" not in resource or self._condition(resource["Condition"], "Resources")

    def _function(self, logical_id: str, properties: Mapping[str, Any]) -> Function:
        variables = properties.get("Environment", {}).get("Variables", {})
        asked = ("Handler", "Timeout", "MemorySize")
        resolved = self.resolve({name: properties[name] for name in asked if name in properties}, logical_id)
        if "Handler" not in resolved:
            raise TemplateError(f"{logical_id} has no Handler")
        return Function(
            logical_id=logical_id,
            name=self._ref(logical_id, logical_id),
            handler=resolved["Handler"],
            timeout=int(resolved.get("Timeout", _TIMEOUT)),
            memory=int(resolved.get("MemorySize", _MEMORY)),
            environment={name: _text(self.resolve(value, f"{logical_id}.{name}")) for name, value in variables.items()},
            events=tuple(self._event(logical_id, name, event) for name, event in properties.get("Events", {}).items()),
        )

    def _event(self, logical_id: str, name: str, event: Mapping[str, Any]) -> EventSource:
        return EventSource(name, event["Type"], self.resolve(event.get("Properties", {}), f"{logical_id}.{name}"))

    def _ref(self, name: str, where: str) -> Any:  # noqa: ANN401 - a parameter has any value
        if name == "AWS::NoValue":
            return _NO_VALUE
        if name in self.parameters:
            return self.parameters[name]
        return self._known(name, where).ref

    def _known(self, logical_id: str, where: str) -> Physical:
        if logical_id in self.physical:
            return self.physical[logical_id]
        raise TemplateError(f"{where}: {logical_id} is neither a parameter nor a resource that exists here")

    def _condition(self, name: str, where: str) -> bool:
        if name not in self.document.get("Conditions", {}):
            raise TemplateError(f"{where}: there is no condition {name}")
        return bool(self.resolve(self.document["Conditions"][name], f"Conditions.{name}"))

    def _intrinsic(self, name: str, argument: Any, where: str) -> Any:  # noqa: ANN401 - each has its own
        functions: dict[str, Callable[[Any, str], Any]] = {
            "Fn::GetAtt": self._attribute,
            "Fn::Sub": self._substituted,
            "Fn::If": self._either,
            "Fn::Equals": lambda pair, at: len({_text(self.resolve(one, at)) for one in pair}) == 1,
            "Fn::Not": lambda one, at: not self.resolve(one, at)[0],
            "Fn::And": lambda several, at: all(self.resolve(several, at)),
            "Fn::Or": lambda several, at: any(self.resolve(several, at)),
            "Fn::Join": lambda pair, at: pair[0].join(_text(one) for one in self.resolve(pair[1], at)),
            "Fn::Split": lambda pair, at: _text(self.resolve(pair[1], at)).split(pair[0]),
            "Fn::Select": lambda pair, at: self.resolve(pair[1], at)[int(pair[0])],
        }
        if name not in functions:
            raise TemplateError(f"{where} is not supported here")
        return functions[name](argument, where)

    def _attribute(self, argument: str | list[str], where: str) -> str:
        logical_id, attribute = argument if isinstance(argument, list) else argument.split(".", 1)
        attributes = self._known(logical_id, where).attributes
        if attribute not in attributes:
            raise TemplateError(f"{where}: {logical_id} has no known attribute {attribute}")
        return attributes[attribute]

    def _substituted(self, argument: str | list[Any], where: str) -> str:
        text, given = argument if isinstance(argument, list) else (argument, {})
        values = self.resolve(given, where)

        def value(match: re.Match[str]) -> str:
            name = match[1]
            if name in values:
                return _text(values[name])
            return _text(self._attribute(name, where) if "." in name else self._ref(name, where))

        return _PLACEHOLDER.sub(value, text).replace("${!", "${")

    def _either(self, argument: list[Any], where: str) -> Any:  # noqa: ANN401 - either branch is any JSON
        condition, then, otherwise = argument
        return self.resolve(then if self._condition(condition, where) else otherwise, where)


def read(path: Path, given: Mapping[str, str], pseudo: Mapping[str, str]) -> Template:
    """Read the template at `path` with values for its parameters and for pseudo parameters (AWS::Region …).

    A parameter that is not given has its default. Raises TemplateError for a parameter that does not exist, has no
    value or has one that the template does not allow.
    """
    document = yaml.load(path.read_text(encoding="utf-8"), _Loader)  # noqa: S506 - a SafeLoader, with CloudFormation's tags
    return of(document, given, pseudo)


def of(document: Mapping[str, Any], given: Mapping[str, str], pseudo: Mapping[str, str]) -> Template:
    """Take a template that is read already, its tags in their long form; otherwise like `read`."""
    declared = document.get("Parameters", {})
    if unknown := given.keys() - declared.keys():
        raise TemplateError(f"template.yaml has no parameter {', '.join(sorted(unknown))}")
    values = {name: _value(name, parameter, given) for name, parameter in declared.items()}
    return Template(document, {**values, **pseudo})


def _value(name: str, parameter: Mapping[str, Any], given: Mapping[str, str]) -> object:
    value = given.get(name, parameter.get("Default", _NO_VALUE))
    if value is _NO_VALUE:
        raise TemplateError(f"parameter {name} needs a value")
    pattern, allowed = parameter.get("AllowedPattern"), parameter.get("AllowedValues")
    if pattern and not re.fullmatch(pattern, _text(value)):
        raise TemplateError(f"parameter {name} must match {pattern}")
    if allowed and _text(value) not in map(_text, allowed):
        raise TemplateError(f"parameter {name} must be one of {', '.join(map(_text, allowed))}")
    if parameter["Type"] == "Number" and not _within(value, parameter):
        raise TemplateError(f"parameter {name} must be a number in the template's bounds")
    return value


def _within(value: object, parameter: Mapping[str, Any]) -> bool:
    try:
        number = float(_text(value))
    except ValueError:
        return False
    return bool(parameter.get("MinValue", -math.inf) <= number <= parameter.get("MaxValue", math.inf))


def _text(value: object) -> str:
    """Write a value as CloudFormation does when it needs a string."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _merged(shared: Mapping[str, Any], own: Mapping[str, Any]) -> dict[str, Any]:
    merged = dict(shared)
    for key, value in own.items():
        both = isinstance(value, dict) and isinstance(merged.get(key), dict)
        merged[key] = _merged(merged[key], value) if both else value
    return merged


class _Loader(yaml.SafeLoader):
    """YAML with CloudFormation's short forms: `!Sub x` is {"Fn::Sub": x}."""


def _short_form(loader: _Loader, suffix: str, node: yaml.Node) -> dict[str, Any]:
    name = suffix if suffix in {"Ref", "Condition"} else f"Fn::{suffix}"
    match node:
        case yaml.ScalarNode():
            return {name: node.value}
        case yaml.SequenceNode():
            return {name: loader.construct_sequence(node, deep=True)}
        case yaml.MappingNode():
            return {name: loader.construct_mapping(node, deep=True)}
        case _:
            raise TemplateError(f"{node.start_mark}: unexpected YAML")


_Loader.add_multi_constructor("!", _short_form)
