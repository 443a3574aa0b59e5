"""An exception of what an author wrote, as a problem: one sentence with its file and line."""

import traceback
from importlib import import_module
from pathlib import Path

import jinja2

from builder.core.folders import Folders
from builder.core.problem import Problem
from engine import calculator
from engine.core import active_project
from engine.core.outputs import Undeclared

NEEDED = ("TITLE", "QUESTION", "Inputs", "solve", "views")


def in_calculator(name: str, source: str, error: Exception) -> Problem:
    """Return the problem of a calculator that fails at its defaults, options or presets.

    Args:
        name: of the calculator.
        source: the file that declares it, from the project's folder.
        error: what it raised.
    """
    lacking = _lacking(name) if isinstance(error, AttributeError) else ""
    if lacking:
        return Problem(source, 1, f"calculator '{name}' declares no {lacking}")
    folder = active_project.CALCULATORS.replace(".", "/") + "/"
    path, line = source, 1
    if isinstance(error, SyntaxError):
        at = Path(error.filename or "").as_posix()
        told, at_line = f"{type(error).__name__}: {error.msg}", error.lineno or 1
        if f"/{folder}" not in at:
            return Problem(source, 1, f"{told}, in line {at_line} of {Path(at).name}")
        return Problem(folder + at.rpartition(f"/{folder}")[2], at_line, told)
    for frame in traceback.extract_tb(error.__traceback__):
        written = Path(frame.filename).as_posix()
        if f"/{folder}" in written:
            path, line = folder + written.rpartition(f"/{folder}")[2], frame.lineno or 1
    if isinstance(error, Undeclared):
        return Problem(path, line, str(error))
    return Problem(path, line, f"calculator '{name}' raises {_told(error)}")


def _lacking(name: str) -> str:
    module = import_module(calculator.module_of(name))
    return " and no ".join(part for part in NEEDED if not hasattr(module, part))


def in_template(folders: Folders, error: Exception) -> Problem | None:
    """Return the problem of a template that raised; None if none of ours did.

    Args:
        folders: of the project.
        error: what was raised.
    """
    templates = folders.theme / "templates"
    if isinstance(error, jinja2.TemplateSyntaxError) and error.filename:
        where, line = error.filename, error.lineno
    else:
        inside = [
            frame
            for frame in traceback.extract_tb(error.__traceback__)
            if Path(frame.filename).is_relative_to(templates)
        ]
        if not inside:
            return None
        where, line = inside[-1].filename, inside[-1].lineno or 1
    return Problem(folders.named(Path(where)), line, _told(error))


def _told(error: Exception) -> str:
    said = " ".join(str(error).split())
    return f"{type(error).__name__}: {said}" if said else type(error).__name__
