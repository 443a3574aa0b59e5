"""Reads and checks `site.toml`, the settings of a project."""

import keyword
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

from builder.core.problem import Problem, line_of_toml
from builder.core.project import UNITS, NavigationLink, Project
from builder.core.text_files import read_text

FILE, CHECKS, NAVIGATION = "site.toml", "checks", "navigation"
PACKAGES, TRAVELS, SWITCHES = "packages", "travels", "units"
REQUIRED_KEYS = ("name", "engine")
_LANGUAGE = re.compile(r"[a-z]{2,3}(-[A-Za-z0-9]{2,8})*")
_ADDRESS = re.compile(r"https://\S+|([\w-]+/)*(#[\w-]+)?")
_PACKAGE = re.compile(r"[A-Za-z0-9]([\w.-]*[A-Za-z0-9])?([=<>!~]=?[\w.*,<>=!~]+)?")
_DATE = re.compile(r"\d{4}-\d\d-\d\d")
_FUNCTION_KEYS = ("takes", "data")
_ADDRESS_KEYS = ("address", "repository", "license_address")
_CHECK_KEYS = ("placed",)
_TOP_LEVEL_KEYS = tuple(field.name for field in fields(Project) if field.name not in _CHECK_KEYS)


class ProjectError(Exception):
    """A folder is not a valid project; `problems` gives the reasons."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__("; ".join(map(str, self.problems)))


def read_project(root: Path) -> Project:
    """Return the settings of the project in a folder.

    Raises:
        ProjectError: its file is not there or cannot be used.
    """
    if not (root / FILE).is_file():
        message = f"there is no such file in {root}; 'new project DIR' begins a project"
        raise ProjectError([Problem(FILE, 1, message)])
    text, file_problems = read_text(root / FILE, FILE)
    if file_problems:
        raise ProjectError(file_problems)
    try:
        tables = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        line = line_of_toml(error, text)
        raise ProjectError([Problem(FILE, line, str(error))]) from None
    problems = list(_project_problems(tables, root))
    if problems:
        raise ProjectError(
            Problem(FILE, _line_of_key(text, key), message) for key, message in problems
        )
    values = {key: value for key, value in tables.items() if key != CHECKS}
    if values.get("address"):
        values["address"] = values["address"].rstrip("/") + "/"
    values |= {key: tuple(values.get(key, ())) for key in (PACKAGES, TRAVELS, SWITCHES)}
    if NAVIGATION in values:
        links = values[NAVIGATION].items()
        values[NAVIGATION] = tuple(
            NavigationLink(label=word, address=address, line=_line_of_key(text, word))
            for word, address in links
        )
    return Project(**values, **tables.get(CHECKS, {}))


def _project_problems(tables: Mapping[str, Any], root: Path) -> Iterator[tuple[str, str]]:
    """Yield (key, message) for every invalid setting."""
    yield from _type_problems(tables, (*_TOP_LEVEL_KEYS, CHECKS), "")
    checks = tables.get(CHECKS, {})
    if isinstance(checks, dict):
        yield from _type_problems(checks, _CHECK_KEYS, f" of [{CHECKS}]")
    yield from _list_problems(tables)
    links = tables.get(NAVIGATION, {})
    if isinstance(links, dict):
        yield from (
            problem for word, address in links.items() for problem in _link_problems(word, address)
        )
    for key in REQUIRED_KEYS:
        if not tables.get(key):
            yield key, f"'{key}' is missing"
    yield from (
        problem for key, value in tables.items() for problem in _value_problems(key, value, root)
    )


def _list_problems(tables: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the problems of settings that are lists."""
    packages, modules, units = (
        value if isinstance(value, list) else []
        for value in (tables.get(PACKAGES), tables.get(TRAVELS), tables.get(SWITCHES))
    )
    for value in modules:
        if not isinstance(value, str) or not all(map(str.isidentifier, value.split("."))):
            yield TRAVELS, f"{value!r} is no module; it has to be such as ruamel.yaml.parser"
    for value in packages:
        if not isinstance(value, str) or not _PACKAGE.fullmatch(value):
            yield PACKAGES, f"{value!r} is no package; it has to be such as css-inline==1.0"
    for value in units:
        if value not in UNITS:
            yield SWITCHES, f"{value!r} is no switch for units; there are {', '.join(UNITS)}"


def _value_problems(key: str, value: object, root: Path) -> Iterator[tuple[str, str]]:
    if not isinstance(value, str) or not value:
        return
    if key in _ADDRESS_KEYS and not value.startswith("https://"):
        yield key, f"'{key}' is '{value}'; it has to begin with https://"
    if key == "language" and not _LANGUAGE.fullmatch(value):
        yield key, f"'{key}' is '{value}'; it has to be such as en or pt-BR"
    if key == "engine":
        yield from _engine_problems(value, root)
    module = value.rpartition(".")[0].replace(".", "/")
    if key == "released" and not _DATE.fullmatch(value):
        yield key, f"'{key}' is '{value}'; it has to be a date such as 2026-11-29"
    if key in _FUNCTION_KEYS and not (root / f"{module}.py").is_file():
        yield key, f"'{key}' is '{value}'; there is no module {module}.py"


def _type_problems(
    table: Mapping[str, Any], allowed: tuple[str, ...], where: str
) -> Iterator[tuple[str, str]]:
    kinds = {
        **dict.fromkeys((CHECKS, NAVIGATION), (dict, "a table")),
        **dict.fromkeys((PACKAGES, TRAVELS, SWITCHES), (list, "a list of texts")),
        **dict.fromkeys(_CHECK_KEYS, (bool, "true or false")),
    }
    for key, value in table.items():
        kind, expected = kinds.get(key, (str, "a text"))
        if key not in allowed:
            yield key, f"unknown key '{key}'{where}; there are {', '.join(allowed)}"
        elif not isinstance(value, kind):
            yield key, f"'{key}' is {value!r}; it has to be {expected}"


def _link_problems(label: str, address: object) -> Iterator[tuple[str, str]]:
    """Yield the problems of a header link; the build checks its target."""
    if not isinstance(address, str) or not _ADDRESS.fullmatch(address):
        examples = "'guides/first-guide/', '#toolbox' or https://"
        yield label, f"'{label}' leads to {address!r}; it has to be an address such as {examples}"


def _engine_problems(name: str, root: Path) -> Iterator[tuple[str, str]]:
    """Yield the problems of the name of the project's own package."""
    if not name.isidentifier() or keyword.iskeyword(name):
        yield "engine", f"'{name}' is no name of a Python package, such as queueing"
    elif not (root / name / "calculators" / "__init__.py").is_file():
        yield "engine", f"there is no package {name}/calculators"


def line_in_project_file(root: Path, key: str) -> int:
    """Return the line of a key in a project's `site.toml`."""
    return _line_of_key((root / FILE).read_text("utf-8"), key)


def _line_of_key(text: str, key: str) -> int:
    """Return the line of a key or table, 1 if it is not found."""
    key_pattern = re.compile(rf"\s*(\[\s*)?[\"']?{re.escape(key)}\b")
    return next((n for n, line in enumerate(text.splitlines(), 1) if key_pattern.match(line)), 1)
