"""`python -m engine mcp`: the library's functions for assistants, over the Model Context Protocol.

The server reads nothing but what it is sent and the folder of a site that it is started with, and
writes nothing. It speaks over standard input and output.
"""

import argparse
from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from importlib import import_module
from pathlib import Path
from typing import Any, Literal

from engine.calculator import load, names
from engine.core.closest_name import closest
from engine.library import functions, notebook
from engine.library.results import as_dict
from engine.terminal import print_problems

USAGE = "python -m engine mcp [--site FOLDER]"
_NEEDED = "mcp: needs the package mcp; allowed: after pip install 'wallclock-training[mcp]'"
_INSTRUCTIONS = """Step time, memory and communication of distributed GPU training, predicted from
a run's configuration by a tested cost model. All values are in SI units: bytes, seconds, bytes/s,
FLOP/s. Give the range of a step time (step_time_low to step_time_high) with the step time, and what
`extrapolates` and `problems` say. Errors name every key that is wrong and what is allowed."""

Tool = Callable[..., dict[str, Any]]
Catalog = Literal["gpus", "models", "nodes", "calculators"]


def estimate(run: dict[str, Any]) -> dict[str, Any]:
    """Return step time, rates and memory of one training run, given as a run file.

    Keys: model (a name of the catalog, or an object), sequence_length, cluster (gpu, gpus_per_node,
    nics_per_node, nic_bandwidth), parallelism (world_size, tensor_parallel, pipeline_parallel,
    context_parallel, expert_parallel, zero_stage), training (micro_batch_size, global_batch_size,
    precision, recompute, framework). A rate or size may be a text such as "400 Gb/s".
    """
    return dict(as_dict(functions.estimate(run)))


def plan(request: dict[str, Any]) -> dict[str, Any]:
    """Return the fastest plans of a job that fit its machines, each with its run file.

    Keys: model, cluster, world_size, sequence_length, global_batch_size; and if wanted count,
    tokens, choose, training, and why (a plan of which to say why it is not the best).
    """
    return dict(as_dict(functions.plan(request)))


def read_config(
    texts: dict[str, str], model: str = "", node: str = "dgx-h100", gpus: int = 0
) -> dict[str, Any]:
    """Return the run file that a trainer's configuration describes, and what was assumed.

    texts: name of each file of the job -> its text (launch script, YAML, TOML, config.json). model,
    node and gpus stand in where no text says them.
    """
    config = functions.read_texts(texts, model=model, node=node, gpus=gpus)
    return {
        "run": as_dict(config.document),
        "formats": list(config.formats),
        "warnings": list(config.warnings),
        "settings": as_dict(config.entries),
    }


def collective(operation: str, size: float, gpus: int, node: str = "dgx-h100") -> dict[str, Any]:
    """Return the time of a collective of NCCL: all_reduce, all_gather, reduce_scatter, all_to_all.

    size: bytes of the whole buffer of a rank. node: a machine of the catalog.
    """
    result = functions.collective(operation, size, gpus, node)  # type: ignore[arg-type]
    return dict(as_dict(result))


def calculate(calculator: str, inputs: dict[str, float | str | bool]) -> dict[str, Any]:
    """Return the numbers of one calculator of the site; `catalog` lists them.

    inputs: numbers in SI units, names of choices, or texts with a unit; the others keep defaults.
    """
    answer = notebook.calculate(calculator, **inputs)
    return {"title": answer.title, "inputs": dict(answer.inputs), "numbers": dict(answer.numbers)}


def catalog(kind: Catalog, name: str = "") -> dict[str, Any]:
    """Return the names in a part of the catalog, or one row with its source and date."""
    if kind == "calculators":
        return {name: load(name).question for name in names()}
    rows: Mapping[str, Any] = getattr(functions, kind)()
    if not name:
        return {"names": list(rows)}
    if name not in rows:
        near = closest(name, rows)
        raise ValueError(f"name: '{name}'; allowed: a name of {kind}, such as '{near}'")
    return dict(as_dict(rows[name]))


TOOLS: tuple[Tool, ...] = (
    estimate,
    plan,
    read_config,
    collective,
    calculate,
    catalog,
)


def main(arguments: Sequence[str]) -> int:
    """Serve until the client closes the connection; return 0, or 2 without the package mcp."""
    parser = argparse.ArgumentParser(
        usage=USAGE,
        allow_abbrev=False,
        description="Serve the library to an assistant, over standard input and output.",
    )
    parser.add_argument("--site", default="", help="folder of a built site, whose pages to serve")
    options = parser.parse_args(arguments)
    pages = read_pages(Path(options.site)) if options.site else {}
    if options.site and not pages:
        return print_problems([f"--site: {options.site}; allowed: the folder of a built site"])
    try:
        server = make_server(pages)
    except ImportError:
        return print_problems([_NEEDED])
    server.run("stdio")
    return 0


def make_server(pages: Mapping[str, str]) -> Any:  # noqa: ANN401 (of an optional package)
    """Return the server with its tools, all marked as reading only.

    Args:
        pages: path of a page, such as "guides/overlap" -> its text as Markdown.

    Raises:
        ImportError: the package mcp is not installed.
    """
    mcp_server = import_module("mcp.server.mcpserver")
    reads_only = import_module("mcp.types").ToolAnnotations(
        read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False
    )
    server = mcp_server.MCPServer("wallclock", instructions=_INSTRUCTIONS, log_level="ERROR")
    tools = (*TOOLS, *(_page_tools(pages) if pages else ()))
    tool_error = import_module("mcp.server.mcpserver.exceptions").ToolError
    for tool in tools:
        server.add_tool(_with_reason(tool, tool_error), annotations=reads_only)
    return server


def _with_reason(tool: Tool, tool_error: type[Exception]) -> Tool:
    """Return a tool whose refusals reach the assistant; the message of any other error does not."""

    @wraps(tool)
    def run(**arguments: Any) -> dict[str, Any]:  # noqa: ANN401
        try:
            return tool(**arguments)
        except ValueError as error:
            raise tool_error(str(error)) from None

    return run


def _page_tools(pages: Mapping[str, str]) -> tuple[Tool, ...]:
    def list_pages() -> dict[str, Any]:
        """Return path -> title of every guide and page of the site."""
        return {path: text.partition("\n")[0].lstrip("# ") for path, text in pages.items()}

    def read_page(path: str) -> dict[str, Any]:
        """Return the text of a guide or page as Markdown; `list_pages` has the paths."""
        if path not in pages:
            near = closest(path, pages)
            hint = f"; did you mean '{near}'?" if near else ""
            raise ValueError(f"path: '{path}'; allowed: a path of list_pages{hint}")
        return {"text": pages[path]}

    return list_pages, read_page


def read_pages(folder: Path) -> Mapping[str, str]:
    """Return path -> Markdown of the pages of a built site."""
    files = sorted(folder.rglob("index.md"))
    return {file.parent.relative_to(folder).as_posix(): file.read_text("utf-8") for file in files}
