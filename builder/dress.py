"""What all pages share: style sheet, scripts, the live runtime, each made again when it changed."""

from collections.abc import Mapping
from dataclasses import dataclass

from builder import assets
from builder.assets import FOLDER, Shell
from builder.folders import Folders, digest, digest_of_files
from builder.memo import Memo
from builder.progress import Report, step
from builder.services import Services

RUNTIME = f"{FOLDER}/runtime"


@dataclass(frozen=True, slots=True, kw_only=True)
class Dress:
    """What all pages share.

    Attributes:
        files: by their path in the output.
        shell: names those that every page loads.
        calculators: calculator -> the file of the runtime that only its pages load.
    """

    files: Mapping[str, bytes]
    shell: Shell
    calculators: Mapping[str, str]


def dress(folders: Folders, services: Services, memo: Memo, report: Report, *, live: bool) -> Dress:
    """Return the files that pages share.

    Args:
        folders: where the theme and the engine lie.
        services: make the runtime and BokehJS.
        memo: what earlier builds made.
        report: is told what takes long.
        live: whether any page has a calculator; without one there is no runtime.
    """
    theme = folders.theme
    looks = digest(digest_of_files(theme / name) for name in ("styles", "fonts"))
    sheets, sheet, fonts = memo.get("styles", looks, lambda: assets.styles(theme))
    modules = digest_of_files(theme / "runtime")
    code, entry, worker = memo.get("scripts", modules, lambda: assets.scripts(theme))
    found = {**sheets, **code}
    runtime = bokeh = ""
    parts: dict[str, str] = {}
    if live:
        engine = digest((digest_of_files(folders.engine), services.typeset_version))
        with step(report, "making the runtime of the live pages"):
            made = memo.get("runtime", engine, services.runtime)
        found |= {f"{RUNTIME}/{name}": content for name, content in made.files.items()}
        runtime = f"{RUNTIME}/{made.manifest}"
        parts = {name: f"{RUNTIME}/{file}" for name, file in made.calculators.items()}
        library = memo.get("bokeh", engine, services.bokeh)
        bokeh = assets.hashed("bokeh.js", library)
        found[bokeh] = library
    shell = Shell(
        styles=sheet,
        style_text=assets.style_text(theme),
        script=entry,
        worker=worker,
        runtime=runtime,
        bokeh=bokeh,
        fonts=fonts,
    )
    return Dress(files=found, shell=shell, calculators=parts)
