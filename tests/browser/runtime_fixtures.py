"""A page with nothing but the runtime on it, on a host of its own under a sub-path."""

import json
import shutil
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from builder.project.project_file import read_project
from builder.project.python_packages import load_wheels
from builder.runtime.bundle import Runtime, build_runtime

ROOT = Path(__file__).resolve().parents[2]
SCRIPTS = ("engine.js", "worker.js", "runtime_loader.js", "snapshot.js")
FLAGS = ("--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-sync")
POLICY = "script-src 'self'"
PAGE = """<!doctype html><html lang="en"><meta charset="utf-8"><title>Runtime</title>
<meta http-equiv="Content-Security-Policy" content="{policy}">
<link rel="icon" href="data:,"><script type="module" src="page.js"></script></html>"""
SCRIPT = """import {{ createEngine }} from "./engine.js";
const states = [];
const archives = Object.entries({archives}).map(([name, file]) => [
  name,
  [new URL(file, import.meta.url).href],
]);
const engine = createEngine({{
  archives: Object.fromEntries(archives),
  workerUrl: new URL("worker.js", import.meta.url).href,
  runtimeUrl: new URL("{manifest}", import.meta.url).href,
  patience: {patience},
  onState: (state, sentence) => states.push([state, sentence ?? ""]),
}});
Object.assign(window, {{ engine, states }});
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Host:
    """The folder served and where: a test may take files away."""

    folder: Path
    url: str


@cache
def made(engine: Path, cache: Path) -> Runtime:
    """Return the live runtime of an engine that no test changes."""
    groups = load_wheels(read_project(ROOT), ROOT, ROOT / ".cache").groups
    return build_runtime(engine, cache, groups=groups)


def write_page(folder: Path, engine: Path, cache: Path, patience: int = 4000) -> str:
    """Write the runtime and a page for it that waits so many ms; return the manifest's name."""
    runtime = made(engine, cache)
    for name, content in runtime.files.items():
        (folder / name).write_bytes(content)
    for name in SCRIPTS:
        shutil.copy(ROOT / "theme" / "runtime" / "engine" / name, folder)
    (folder / "index.html").write_text(PAGE.format(policy=POLICY))
    archives = json.dumps(dict(runtime.calculators))
    script = SCRIPT.format(manifest=runtime.manifest, archives=archives, patience=patience)
    (folder / "page.js").write_text(script)
    return runtime.manifest


def request(**values: str) -> str:
    """Return a request to the first calculator, as the page sends it."""
    return json.dumps({"calculator": "gradient_sync", "values": values})
