"""What all pages share: style sheet, scripts, the live runtime, each made again when it changed."""

from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from threading import Event

from builder.core.build_cache import Memo
from builder.core.folders import Folders, digest, digest_of_files
from builder.core.progress import Report, step
from builder.figures import hero_figures
from builder.pages.build_services import Services
from builder.runtime.bundle import Runtime
from builder.runtime.bytecode import MAKERS
from builder.theme import assets, minify_assets, panels
from builder.theme.assets import FOLDER, Shell

RUNTIME = f"{FOLDER}/runtime"
DRAWN = "drawn.css"
HEAD_START = 1.0  # seconds
_TO_COME = "to come"  # in the place of an address that is not known yet


@dataclass(frozen=True, slots=True, kw_only=True)
class Dress:
    """What all pages share.

    Attributes:
        files: by their path in the output.
        shell: names those that every page loads.
        calculators: calculator -> the file of the runtime with all that it needs.
        beside: name -> script that lies beside the home page, as it is sent.
        drawn: the rules of drawings that are files of their own.
    """

    files: Mapping[str, bytes]
    shell: Shell
    beside: Mapping[str, str]
    drawn: str
    calculators: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Wardrobe:
    """What the theme has for all pages, as it is written.

    Attributes:
        fonts: name -> (where it lies, content).
        beside: name -> script that lies beside the home page.
        texts: name -> styles and scripts that no module imports.
        key: digest of these and of the modules.
    """

    fonts: Mapping[str, tuple[str, bytes]]
    beside: Mapping[str, str]
    texts: Mapping[str, str]
    key: str


def _wardrobe(folders: Folders, boxes: Mapping[str, str]) -> _Wardrobe:
    theme, beside = folders.theme, folders.scripts()
    fonts = assets.fonts(theme)
    texts = {
        **assets.sheets(theme, fonts),
        DRAWN: hero_figures.rules(theme / "styles"),
        **beside,
        **panels.styles(boxes),
    }
    key = digest((digest_of_files(theme / "runtime"), repr(texts)))
    return _Wardrobe(fonts=fonts, beside=beside, texts=texts, key=key)


def _code(folders: Folders) -> str:
    """Return the digest of all that travels to the reader's browser."""
    held = (part for files in folders.groups.values() for one in files.items() for part in one)
    return digest((*map(digest_of_files, folders.engines), *held))


class Ahead:
    """The live runtime, made by Node while Python goes on with the articles."""

    def __init__(self, folders: Folders, services: Services, memo: Memo) -> None:
        key = digest(
            (
                folders.once("engines", partial(_code, folders)),
                services.typeset_version,
                *(path.read_bytes() for path in MAKERS),
            )
        )
        # What readers get is good for an author as well, but not the other way round.
        as_sent = not services.quick or memo.has("runtime", key)
        self.key = key if as_sent else digest((key, "quick"))
        asked = Event()
        self._memo, self._make = memo, partial(services.runtime, asked.set)
        self._begun: Future[Runtime] | None = None
        if not memo.has("runtime", self.key):
            self._begun = ThreadPoolExecutor(1).submit(self._make)
            self._begun.add_done_callback(lambda _: asked.set())
            # Two threads that compute wait for each other at every file that is read: together
            # they would ask Node a second later.
            asked.wait(HEAD_START)

    @property
    def is_made(self) -> bool:
        """Whether nobody has to wait for it."""
        return self._begun is None or self._begun.done()

    def runtime(self) -> Runtime:
        """Return it, waiting for it if need be."""
        begun = self._begun
        return self._memo.get("runtime", self.key, begun.result if begun else self._make)


def dress(
    folders: Folders,
    services: Services,
    memo: Memo,
    ahead: Ahead | None,
    boxes: Mapping[str, str],
    *,
    readable: bool,
) -> Dress:
    """Return the files that pages share; the runtime, which takes longest, is still `to come`.

    Args:
        folders: where the theme and the engine lie.
        services: make the runtime and BokehJS.
        memo: what earlier builds made.
        ahead: the runtime that will be among them, None if no page has a calculator.
        boxes: path beside the scripts -> HTML of what scripts fetch when it is opened.
        readable: leave scripts and styles as they are written.
    """
    rooms = folders.theme / "runtime"
    wardrobe = folders.once("wardrobe", partial(_wardrobe, folders, boxes))
    fonts, beside, texts = wardrobe.fonts, wardrobe.beside, wardrobe.texts
    make = minify_assets.as_written if readable else services.slim
    key = digest((str(readable), wardrobe.key))
    made = memo.get("scripts and styles", key, lambda: make(rooms, texts))
    code, entry, worker = assets.scripts({**made.modules, **panels.dressed(boxes, made.texts)})
    style, early = made.texts[assets.SHEET], made.texts.get(assets.EARLY, "")
    sheet = assets.hashed(assets.SHEET, style.encode())
    some = {name: made.texts[name] for name in texts if name.startswith(f"{assets.SOME}/")}
    apart = {
        name: assets.hashed(name.rpartition("/")[2], text.encode()) for name, text in some.items()
    }
    soon = assets.hashed(assets.EARLY, early.encode()) if early else ""
    found = {**dict(fonts.values()), sheet: style.encode(), **code}
    found |= {soon: early.encode()} if early else {}
    found |= {apart[name]: text.encode() for name, text in some.items()}
    bokeh = ""
    if ahead:
        library = memo.get("bokeh", ahead.key, services.bokeh)
        bokeh = assets.hashed("bokeh.js", library)
        found[bokeh] = library
    shell = Shell(
        styles=sheet,
        style_text=style,
        early=soon,
        script=entry,
        worker=worker,
        runtime=_TO_COME if ahead else "",
        bokeh=bokeh,
        fonts=tuple(where for name, (where, _) in fonts.items() if "-normal" in name),
        some=tuple(
            assets.Sheet(classes=assets.classes(texts[name]), address=address)
            for name, address in apart.items()
        ),
    )
    sent = {name: made.texts[name] for name in beside if name != assets.EARLY}
    return Dress(files=found, shell=shell, beside=sent, drawn=made.texts[DRAWN], calculators={})


def with_runtime(dressed: Dress, ahead: Ahead, report: Report) -> Dress:
    """Return the same with the runtime in its place, waiting for it if need be."""
    with step(report, "making the runtime of the live pages"):
        live = ahead.runtime()
    return replace(
        dressed,
        files={**dressed.files, **{f"{RUNTIME}/{name}": one for name, one in live.files.items()}},
        shell=replace(dressed.shell, runtime=f"{RUNTIME}/{live.manifest}"),
        calculators={name: f"{RUNTIME}/{file}" for name, file in live.calculators.items()},
    )
