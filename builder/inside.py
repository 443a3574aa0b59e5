"""Runs inside Pyodide under Node, never natively: compile byte code and see what it needs.

`bundle.mjs` executes this file and calls `run`. Byte code must come from the very Python that
will load it, and the modules to ship are those that this Python has loaded in the end.
"""

import ast
import base64
import importlib
import json
import marshal
import sys
from _frozen_importlib_external import MAGIC_NUMBER
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from types import CodeType
from typing import Any

LIBRARY = next(path for path in sys.path if path.endswith(".zip"))
ROOT = "/wallclock"
CHARTS = ("lines", "bars", "timeline", "heatmap")
UNCHECKED = (1).to_bytes(4, "little")  # a hash-based .pyc that nobody compares with its source


def run(request: str) -> str:
    """Compile, try and list; all data is JSON text.

    Args:
        request: {"sources": {path: text}, "compiled": {path: base64}, "trace": bool}, paths
            such as "engine/answer.py".

    Returns:
        {"compiled": {path: base64} for the sources given, "library": {path: base64} of the
        standard library's loaded modules when tracing, "missing": module name or null}.
    """
    given = json.loads(request)
    compiled = {path: byte_code(text, path, 2) for path, text in given["sources"].items()}
    packed = {path: base64.b64decode(text) for path, text in given["compiled"].items()}
    missing = try_out({**packed, **compiled}, thoroughly=given["trace"])
    library = dict(loaded()) if given["trace"] else {}
    return json.dumps(
        {"compiled": encoded(compiled), "library": encoded(library), "missing": missing}
    )


def byte_code(source: str | bytes, path: str, optimize: int) -> bytes:
    """Return the content of the .pyc of a source file."""
    tree = ast.parse(source)
    if path.startswith("engine/"):  # the standard library may read its own types
        tree = Bare().visit(tree)
    code = compile(tree, path, "exec", dont_inherit=True, optimize=optimize)
    if optimize:
        code = without_lines(code)
    # Through marshal twice: how often an object is shared must not depend on this process.
    stable = marshal.dumps(marshal.loads(marshal.dumps(code)))
    return MAGIC_NUMBER + UNCHECKED + bytes(8) + stable


class Bare(ast.NodeTransformer):
    """Takes the types of functions and variables out; those of fields say what a reader can set."""

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        """Return the function without types."""
        node.returns = None
        given = node.args
        for one in (*given.posonlyargs, *given.args, *given.kwonlyargs, given.vararg, given.kwarg):
            if one:
                one.annotation = None
        return self.generic_visit(node)

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        """Return the class with the types of its fields, its methods without types."""
        for part in node.body:
            if not isinstance(part, ast.AnnAssign):
                self.visit(part)
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        """Return an assignment without type; a mere declaration stays."""
        if node.value is None:
            return node
        bare = ast.Assign(targets=[node.target], value=node.value)
        return ast.copy_location(bare, node)


def encoded(files: Mapping[str, bytes]) -> dict[str, str]:
    """Return the files with their content as base64 text."""
    return {path: base64.b64encode(data).decode() for path, data in files.items()}


def try_out(files: Mapping[str, bytes], *, thoroughly: bool) -> str | None:
    """Import the engine's byte code; return the name of a module it lacks, if any.

    `thoroughly` also uses it: the standard library imports some of its modules only when called.
    """
    for path, data in files.items():
        target = Path(ROOT, path).with_suffix(".pyc")
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)
    sys.path.insert(0, ROOT)
    try:
        for path in files:
            importlib.import_module(
                path.removesuffix(".py").replace("/", ".").removesuffix(".__init__")
            )
        if thoroughly:
            exercise()
    except ModuleNotFoundError as error:
        return error.name or str(error)
    return None


def exercise() -> None:
    """Ask every calculator for its defaults, the ends of its inputs, and all it can draw."""
    answer = importlib.import_module("engine.answer").answer
    for name in importlib.import_module("engine.calculator").names():
        reply = json.loads(answer(json.dumps({"calculator": name})))
        for request in (*changes(reply), *drawings(reply)):
            # Not every view has every form: a number has no CSV, a formula no picture.
            with suppress(LookupError, NotImplementedError):
                answer(json.dumps({"calculator": name, **request}))


def changes(reply: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield what a reader can do to the inputs: a bad value, a step, all at either end."""
    yield {"display": {"binary": True, "both_ways": True}}
    yield {"typed": {"no such input": "1"}}
    names = [
        name
        for name, state in reply["inputs"].items()
        if isinstance(state, dict) and state.get("position") is not None
    ]
    if names:
        yield {"typed": {names[0]: "not a value"}}
        yield {"nudge": {names[0]: 1}}
    for end in (0, 1):
        yield {"slide": dict.fromkeys(names, end)}


def drawings(reply: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield a request for every form of the outputs that have it."""
    outputs = reply["outputs"] or {}
    values = [name for name, view in outputs.items() if view["kind"] == "value"]
    charts = [name for name, view in outputs.items() if view["kind"] in CHARTS]
    timelines = [name for name, view in outputs.items() if view["kind"] == "timeline"]
    yield {"want": {"receipts": values}}
    yield {"want": {"csv": charts}}
    yield {"want": {"trace": timelines}}


def loaded() -> Iterator[tuple[str, bytes]]:
    """Yield (path, byte code) of every module loaded from the standard library's archive."""
    paths = sorted(
        file.removeprefix(LIBRARY + "/")
        for file in (getattr(module, "__file__", None) for module in list(sys.modules.values()))
        if file and file.startswith(LIBRARY + "/")
    )
    importer = importlib.import_module("zipimport").zipimporter(LIBRARY)
    for path in paths:
        yield path, byte_code(importer.get_data(f"{LIBRARY}/{path}"), path, 2)


def without_lines(code: CodeType) -> CodeType:
    """Return code that does not know its line numbers: half of the compressed bytes."""
    inner = [without_lines(c) if isinstance(c, CodeType) else c for c in code.co_consts]
    return code.replace(co_linetable=b"", co_consts=tuple(inner))
