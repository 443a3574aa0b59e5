"""What all pages share: style sheet, scripts, the live runtime, each made again when it changed."""

from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass

from builder import assets, slim
from builder.assets import FOLDER, Shell
from builder.bundle import Runtime
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
        calculators: calculator -> the file of the runtime with all that it needs.
    """

    files: Mapping[str, bytes]
    shell: Shell
    calculators: Mapping[str, str]


class Ahead:
    """The live runtime, made by Node while Python goes on with the articles."""

    def __init__(self, folders: Folders, services: Services, memo: Memo) -> None:
        self.key = digest((*map(digest_of_files, folders.engines), services.typeset_version))
        self._memo, self._make = memo, services.runtime
        self._begun: Future[Runtime] | None = None
        if not memo.has("runtime", self.key):
            self._begun = ThreadPoolExecutor(1).submit(services.runtime)

    def runtime(self) -> Runtime:
        """Return it, waiting for it if need be."""
        begun = self._begun
        return self._memo.get("runtime", self.key, begun.result if begun else self._make)


def dress(
    folders: Folders,
    services: Services,
    memo: Memo,
    report: Report,
    ahead: Ahead | None,
    boxes: Mapping[str, str],
) -> Dress:
    """Return the files that pages share.

    Args:
        folders: where the theme and the engine lie.
        services: make the runtime and BokehJS.
        memo: what earlier builds made.
        report: is told what takes long.
        ahead: the runtime, None if no page has a calculator.
        boxes: path beside the scripts -> HTML of what scripts fetch when it is opened.
    """
    theme = folders.theme
    looks = digest(digest_of_files(theme / name) for name in ("styles", "fonts"))
    sheets, sheet, fonts = memo.get("styles", looks, lambda: assets.styles(theme))
    modules = digest((digest_of_files(theme / "runtime"), repr(boxes)))
    code, entry, worker = memo.get("scripts", modules, lambda: assets.scripts(theme, boxes))
    early = slim.script(folders.early()).encode()
    soon = assets.hashed("early.js", early) if early else ""
    found = {**sheets, **code, **({soon: early} if early else {})}
    runtime = bokeh = ""
    parts: dict[str, str] = {}
    if ahead:
        with step(report, "making the runtime of the live pages"):
            made = ahead.runtime()
        found |= {f"{RUNTIME}/{name}": content for name, content in made.files.items()}
        runtime = f"{RUNTIME}/{made.manifest}"
        parts = {name: f"{RUNTIME}/{file}" for name, file in made.calculators.items()}
        library = memo.get("bokeh", ahead.key, services.bokeh)
        bokeh = assets.hashed("bokeh.js", library)
        found[bokeh] = library
    shell = Shell(
        styles=sheet,
        style_text=assets.style_text(theme),
        early=soon,
        script=entry,
        worker=worker,
        runtime=runtime,
        bokeh=bokeh,
        fonts=fonts,
    )
    return Dress(files=found, shell=shell, calculators=parts)
