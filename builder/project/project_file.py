"""`site.toml`, in which a project says what belongs to it; all else is the generator's."""

import keyword
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

from builder.core.problem import Problem, line_of_toml
from builder.core.project import UNITS, Project, Way
from builder.core.text_files import text_of

FILE, CHECKS, NAVIGATION = "site.toml", "checks", "navigation"
PACKAGES, SWITCHES = "packages", "units"
NEEDED = ("name", "engine")
_LANGUAGE = re.compile(r"[a-z]{2,3}(-[A-Za-z0-9]{2,8})*")
_ADDRESS = re.compile(r"https://\S+|([\w-]+/)*(#[\w-]+)?")
_PACKAGE = re.compile(r"[A-Za-z0-9]([\w.-]*[A-Za-z0-9])?([=<>!~]=?[\w.*,<>=!~]+)?")
_ADDRESSES = ("address", "repository", "license_address")
_IN_CHECKS = ("placed",)
_AT_TOP = tuple(one.name for one in fields(Project) if one.name not in _IN_CHECKS)


class ProjectError(Exception):
    """A folder is no project that could be used; `problems` say why."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__("; ".join(map(str, self.problems)))


def read(root: Path) -> Project:
    """Return what the project in a folder says of itself.

    Raises:
        ProjectError: its file is not there or cannot be used.
    """
    if not (root / FILE).is_file():
        message = f"there is no such file in {root}; 'new project DIR' begins a project"
        raise ProjectError([Problem(FILE, 1, message)])
    text, unread = text_of(root / FILE, FILE)
    if unread:
        raise ProjectError(unread)
    try:
        given = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        wrong_line = line_of_toml(error, text)
        raise ProjectError([Problem(FILE, wrong_line, str(error))]) from None
    wrong = list(_wrong(given, root))
    if wrong:
        raise ProjectError(Problem(FILE, _line(text, key), message) for key, message in wrong)
    values = {key: value for key, value in given.items() if key != CHECKS}
    if values.get("address"):
        values["address"] = values["address"].rstrip("/") + "/"
    values |= {key: tuple(values.get(key, ())) for key in (PACKAGES, SWITCHES)}
    if NAVIGATION in values:
        ways = values[NAVIGATION].items()
        values[NAVIGATION] = tuple(
            Way(word=word, address=address, line=_line(text, word)) for word, address in ways
        )
    return Project(**values, **given.get(CHECKS, {}))


def _wrong(given: Mapping[str, Any], root: Path) -> Iterator[tuple[str, str]]:
    """Yield (key, message) of what is wrong."""
    yield from _of_kind(given, (*_AT_TOP, CHECKS), "")
    checks = given.get(CHECKS, {})
    if isinstance(checks, dict):
        yield from _of_kind(checks, _IN_CHECKS, f" of [{CHECKS}]")
    yield from _of_lists(given)
    ways = given.get(NAVIGATION, {})
    if isinstance(ways, dict):
        yield from (one for word, way in ways.items() for one in _of_way(word, way))
    for key in NEEDED:
        if not given.get(key):
            yield key, f"'{key}' is missing"
    yield from (one for key, value in given.items() for one in _of_value(key, value, root))


def _of_lists(given: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield what is wrong in the keys whose values are lists."""
    packages, switches = (
        one if isinstance(one, list) else [] for one in (given.get(PACKAGES), given.get(SWITCHES))
    )
    for one in packages:
        if not isinstance(one, str) or not _PACKAGE.fullmatch(one):
            yield PACKAGES, f"{one!r} is no package; it has to be such as css-inline==1.0"
    for one in switches:
        if one not in UNITS:
            yield SWITCHES, f"{one!r} is no switch for units; there are {', '.join(UNITS)}"


def _of_value(key: str, value: object, root: Path) -> Iterator[tuple[str, str]]:
    if not isinstance(value, str) or not value:
        return
    if key in _ADDRESSES and not value.startswith("https://"):
        yield key, f"'{key}' is '{value}'; it has to begin with https://"
    if key == "language" and not _LANGUAGE.fullmatch(value):
        yield key, f"'{key}' is '{value}'; it has to be such as en or pt-BR"
    if key == "engine":
        yield from _of_engine(value, root)
    module = value.rpartition(".")[0].replace(".", "/")
    if key == "takes" and not (root / f"{module}.py").is_file():
        yield key, f"'{key}' is '{value}'; there is no module {module}.py"


def _of_kind(
    given: Mapping[str, Any], allowed: tuple[str, ...], where: str
) -> Iterator[tuple[str, str]]:
    kinds = {
        **dict.fromkeys((CHECKS, NAVIGATION), (dict, "a table")),
        **dict.fromkeys((PACKAGES, SWITCHES), (list, "a list of texts")),
        **dict.fromkeys(_IN_CHECKS, (bool, "true or false")),
    }
    for key, value in given.items():
        kind, wanted = kinds.get(key, (str, "a text"))
        if key not in allowed:
            yield key, f"unknown key '{key}'{where}; there are {', '.join(allowed)}"
        elif not isinstance(value, kind):
            yield key, f"'{key}' is {value!r}; it has to be {wanted}"


def _of_way(word: str, address: object) -> Iterator[tuple[str, str]]:
    """Yield what is wrong with a link of the header; whether it leads anywhere, the build finds."""
    if not isinstance(address, str) or not _ADDRESS.fullmatch(address):
        wanted = "'guides/first-guide/', '#toolbox' or https://"
        yield word, f"'{word}' leads to {address!r}; it has to be an address such as {wanted}"


def _of_engine(name: str, root: Path) -> Iterator[tuple[str, str]]:
    """Yield what keeps a name from being that of the project's own package."""
    if not name.isidentifier() or keyword.iskeyword(name):
        yield "engine", f"'{name}' is no name of a Python package, such as queueing"
    elif not (root / name / "calculators" / "__init__.py").is_file():
        yield "engine", f"there is no package {name}/calculators"


def line_of(root: Path, key: str) -> int:
    """Return the line of a key in the file of the project in a folder."""
    return _line((root / FILE).read_text("utf-8"), key)


def _line(text: str, key: str) -> int:
    """Return the line on which a key or a table stands, 1 if it cannot be found."""
    found = re.compile(rf"\s*(\[\s*)?[\"']?{re.escape(key)}\b")
    return next((n for n, line in enumerate(text.splitlines(), 1) if found.match(line)), 1)
