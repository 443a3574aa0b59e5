"""Theme overlay: a project's templates, styles and scripts replace the generator's.

The result lies in the cache. What a project replaces can still be extended: templates of the
generator are also `given/NAME.html`. All of them speak the words of `words.toml`
(`builder.project.ui_strings`).
"""

import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path

from builder.core.folders import Folders, files, write_atomically
from builder.core.problem import Problem
from builder.core.text_files import read_text
from builder.project import ui_strings
from builder.project.project_file import ProjectError

THEME_FOLDERS = ("templates", "styles", "fonts", "runtime")
BASE_TEMPLATES = "templates/given"


def update_overlay(folders: Folders) -> None:
    """Update the merged theme in the cache, where the project has a theme.

    Raises:
        ProjectError: its translations are invalid.
    """
    if folders.base_theme is None:
        return
    source = f"theme/{ui_strings.FILE}"
    translations, problems = ui_strings.read_translations(folders.root / "theme", source)
    overlay_files = {
        **{
            f"{BASE_TEMPLATES}/{name}": path
            for name, path in _files_in(folders.base_theme / "templates")
        },
        **dict(_theme_files(folders.base_theme)),
        **dict(_theme_files(folders.root / "theme")),
    }
    used_texts: set[str] = set()
    for name, path in overlay_files.items():
        if translations and ui_strings.may_hold_texts(name):
            used_texts |= _copy_translated(name, path, folders.theme / name, translations)
        else:
            _copy_if_changed(path, folders.theme / name)
    for path in files(folders.theme):
        if path.relative_to(folders.theme).as_posix() not in overlay_files:
            path.unlink()
    lines = (folders.root / source).read_text("utf-8") if translations else ""
    problems += [
        Problem(source, ui_strings.line_of(lines, text), f"'{text}' is no text of the interface")
        for text in translations
        if text not in used_texts
    ]
    if problems:
        raise ProjectError(problems)


def _theme_files(theme: Path) -> Iterator[tuple[str, Path]]:
    """Yield (name, path) of the files of a theme, without node_modules."""
    for folder in THEME_FOLDERS:
        yield from ((f"{folder}/{name}", path) for name, path in _files_in(theme / folder))
    yield from ((path.name, path) for path in sorted(theme.glob("*.*")) if path.is_file())


def _files_in(folder: Path) -> Iterator[tuple[str, Path]]:
    yield from ((path.relative_to(folder).as_posix(), path) for path in files(folder))


def _copy_translated(
    name: str, source: Path, target: Path, translations: Mapping[str, str]
) -> set[str]:
    """Write a translated file of the theme; return the original texts that it had."""
    text, problems = read_text(source, name)
    if problems:  # reported when the theme is checked
        _copy_if_changed(source, target)
        return set()
    translated, texts = ui_strings.translate_file(name, text, translations)
    if not target.is_file() or target.read_bytes() != translated.encode():
        write_atomically(target, translated.encode())
    return texts


def _copy_if_changed(source: Path, target: Path) -> None:
    source_stat = source.stat()
    target_stat = target.stat() if target.is_file() else None
    if target_stat and (target_stat.st_mtime_ns, target_stat.st_size) == (
        source_stat.st_mtime_ns,
        source_stat.st_size,
    ):
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy2(source, target)
