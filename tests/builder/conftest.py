import importlib
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import engine.calculator
import engine.core.active_project
import engine.core.registry
from builder import pipeline
from builder.core import build_cache
from builder.core.folders import Folders
from builder.core.project import Project
from builder.pages.build_services import Services
from builder.project.activate_project import activate_project
from builder.runtime.bundle import Runtime

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
PROJECT = Project(name="Tiny", engine="tiny_calculators", summary="A few pages.")


def silent(_: str) -> None:
    pass


def typeset(formulas):
    return [
        {"error": "Unsupported function name: \\foo"}
        if "\\foo" in formula["tex"]
        else {"html": f"<math>{_texts(formula['tex'])}</math>"}
        for formula in formulas
    ]


def _texts(tex: str) -> str:
    return tex.replace(r"\text{", "<mtext>").replace("z}", "z</mtext>")


SERVICES = Services(
    typeset=typeset,
    typeset_version="1",
    runtime=lambda _: Runtime(
        files={"runtime-1.json": b"{}"}, manifest="runtime-1.json", calculators={}
    ),
    figure=lambda name, view: {"root": name, "kind": view["kind"]},
    bokeh=lambda: b"bokeh",
    draw=lambda charts: {name: f"<svg><title>{name}</title></svg>" for name in charts},
)


class Site:
    """A tiny project in a folder of its own."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.memo = build_cache.BuildCache()

    @property
    def folders(self) -> Folders:
        return Folders(
            project=PROJECT,
            root=self.root,
            content=self.root / "content",
            theme=self.root / "theme",
            engine=self.root / "tiny_calculators",
            cache=self.root / ".cache",
            code=(self.root / "tiny_calculators",),
        )

    def build(self, **options) -> pipeline.BuildResult:
        self.memo = self.memo.for_next_build()
        return self.build_with(self.memo, **options)

    def build_with(self, memory: build_cache.BuildCache, **options) -> pipeline.BuildResult:
        given = pipeline.Options(**options)
        return pipeline.build(self.folders, given, SERVICES, memory, silent)

    def problems(self) -> list[str]:
        return [str(problem) for problem in self.build().problems]

    def page(self, url: str) -> str:
        built = self.build()
        assert built.problems == ()
        return built.output[url].decode()

    def edit(self, path: str, old: str, new: str) -> None:
        file = self.root / path
        text = file.read_text("utf-8")
        assert old in text
        file.write_text(text.replace(old, new, 1), "utf-8")

    def append(self, path: str, text: str) -> int:
        """Add a paragraph at the end of an article; return the line it stands on."""
        file = self.root / path
        before = file.read_text("utf-8").rstrip("\n") + "\n\n"
        file.write_text(before + text + "\n", "utf-8")
        return before.count("\n") + 1


@contextmanager
def tiny(name: str, folder: Path) -> Iterator[Site]:
    """A copy of a tiny site whose calculators stand in for the real ones."""
    root = folder / name
    shutil.copytree(HERE / "sites" / name, root, ignore=shutil.ignore_patterns("__pycache__"))
    (root / "tiny_calculators").mkdir(exist_ok=True)
    (root / "tiny_calculators" / "__init__.py").touch()
    for macro in ("calculator.html", "blocks.html", "moved.html"):
        shutil.copy(ROOT / "theme" / "templates" / macro, root / "theme" / "templates" / macro)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(engine.core.active_project, "CALCULATORS", "tiny_calculators")
        patch.syspath_prepend(root)
        # Of two saves within a second that are as long as each other, byte code shows the first.
        patch.setattr(sys, "dont_write_bytecode", True)
        forget_calculators()
        yield Site(root)
    forget_calculators()


def forget_calculators() -> None:
    for module in [m for m in sys.modules if m.partition(".")[0] == "tiny_calculators"]:
        del sys.modules[module]
    importlib.invalidate_caches()
    engine.core.registry.module_names.cache_clear()
    engine.core.registry.module_tree.cache_clear()
    engine.calculator.load.cache_clear()


@pytest.fixture(autouse=True)
def at_home() -> Iterator[None]:
    """Whatever project a test has entered, the next one is where it was before."""
    before = engine.core.active_project.package()
    yield
    if before == "engine" != engine.core.active_project.package():
        activate_project(ROOT)


@pytest.fixture
def live(tmp_path) -> Iterator[Site]:
    with tiny("live", tmp_path) as site:
        yield site


@pytest.fixture
def plain(tmp_path) -> Iterator[Site]:
    with tiny("plain", tmp_path) as site:
        yield site


@pytest.fixture(scope="module")
def finished(tmp_path_factory) -> Iterator[Site]:
    """The live site for tests that only read it: built once, remembered by its memo."""
    with tiny("live", tmp_path_factory.mktemp("finished")) as site:
        yield site
