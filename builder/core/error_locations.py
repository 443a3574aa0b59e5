"""Exceptions in authors' code as problems: one sentence with file and line."""

import traceback
from importlib import import_module
from pathlib import Path

import jinja2

from builder.core.folders import Folders, files
from builder.core.problem import Problem, TemplateError
from engine import calculator
from engine.core import active_project
from engine.core.outputs import UndeclaredName

REQUIRED_NAMES = ("TITLE", "QUESTION", "HEADLINE", "Inputs", "solve", "views")


def calculator_problem(name: str, source: str, error: Exception) -> Problem:
    """Return the problem for a calculator that raises at its defaults, options or presets.

    Args:
        name: of the calculator.
        source: the file that declares it, from the project's folder.
        error: what it raised.
    """
    missing = _missing_names(name) if isinstance(error, AttributeError) else ""
    if missing:
        return Problem(source, 1, f"calculator '{name}' declares no {missing}")
    folder = active_project.CALCULATORS.replace(".", "/") + "/"
    path, line = source, 1
    if isinstance(error, SyntaxError):
        module_path = Path(error.filename or "").as_posix()
        message, line_number = f"{type(error).__name__}: {error.msg}", error.lineno or 1
        if f"/{folder}" not in module_path:
            return Problem(
                source, 1, f"{message}, in line {line_number} of {Path(module_path).name}"
            )
        return Problem(folder + module_path.rpartition(f"/{folder}")[2], line_number, message)
    for frame in traceback.extract_tb(error.__traceback__):
        frame_path = Path(frame.filename).as_posix()
        if f"/{folder}" in frame_path:
            path, line = folder + frame_path.rpartition(f"/{folder}")[2], frame.lineno or 1
    if isinstance(error, UndeclaredName):
        return Problem(path, line, str(error))
    return Problem(path, line, f"calculator '{name}' raises {_error_message(error)}")


def _missing_names(name: str) -> str:
    module = import_module(calculator.module_of(name))
    return " and no ".join(part for part in REQUIRED_NAMES if not hasattr(module, part))


def template_problem(folders: Folders, error: Exception) -> Problem | None:
    """Return the problem for a template that raised, None if no theme template is in the traceback.

    Args:
        folders: of the project.
        error: what was raised.
    """
    templates = folders.theme / "templates"
    if isinstance(error, TemplateError):
        mark, message = error.args
        return _marked_problem(folders, templates, mark, message)
    if isinstance(error, jinja2.TemplateSyntaxError) and error.filename:
        path, line = error.filename, error.lineno
    else:
        template_frames = [
            frame
            for frame in traceback.extract_tb(error.__traceback__)
            if Path(frame.filename).is_relative_to(templates)
        ]
        if not template_frames:
            return None
        path, line = template_frames[-1].filename, template_frames[-1].lineno or 1
    return Problem(folders.display_path(Path(path)), line, _error_message(error))


def _marked_problem(folders: Folders, templates: Path, mark: str, message: str) -> Problem:
    """Return the problem at the first template that has this name or this mark in its text."""
    for path in files(templates, "*.html"):
        lines = path.read_text("utf-8").splitlines()
        numbers = [number for number, line in enumerate(lines, start=1) if mark in line]
        if path.name == mark or numbers:
            return Problem(folders.display_path(path), next(iter(numbers), 1), message)
    return Problem(folders.display_path(templates / mark), 1, message)


def _error_message(error: Exception) -> str:
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text}" if text else type(error).__name__
