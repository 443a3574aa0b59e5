"""Command builder: a measurement on every layer, filled in, with its output explained."""

from dataclasses import dataclass
from typing import Annotated, get_type_hints

from engine.core.inputs import MEBIBYTES, MILLISECONDS, Choice, Number, Unit
from engine.core.outputs import Views
from engine.core.units import MILLI, GiB, MiB
from engine.core.views import Badge, CalculatorLink, Cell, Citation, Code, Table
from engine.form.commands import COMMANDS, LAYERS, Command

TITLE = "Command builder"
QUESTION = "Which command measures this layer, and what does its answer mean?"
HEADLINE = "about"
_SECONDS = Unit(" s", 1.0, {"min": 60.0, "ms": 1e-3})


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """The calculator's inputs."""

    tool: Annotated[
        str,
        Choice(
            label="Tool",
            options={key: f"{LAYERS[tool.layer]}: {tool.name}" for key, tool in COMMANDS.items()},
        ),
    ] = "dcgmi"
    gpu: Annotated[int, Number(label="GPU of the node", low=0, high=15, whole=True)] = 0
    rank: Annotated[int, Number(label="Another rank to look at", low=0, high=16383, whole=True)] = 5
    interval: Annotated[
        float, Number(label="Interval", unit=MILLISECONDS, low=0.1, high=10.0, step=0.1)
    ] = 1000 * MILLI
    count: Annotated[
        int, Number(label="Rows, or repetitions", low=1, high=1000, whole=True, scale="log")
    ] = 20
    duration: Annotated[
        float, Number(label="Duration", unit=_SECONDS, low=1, high=600, whole=True)
    ] = 20
    delay: Annotated[
        float, Number(label="Start after", unit=_SECONDS, low=0, high=3600, whole=True)
    ] = 120
    steps: Annotated[int, Number(label="Steps to record", low=1, high=20, whole=True)] = 3
    size: Annotated[
        float,
        Number(label="Largest message", unit=MEBIBYTES, low=MiB, high=16 * GiB, scale="log2"),
    ] = GiB
    ranks: Annotated[int, Number(label="GPUs", low=2, high=16384, whole=True, scale="log2")] = 64
    gpus_per_node: Annotated[
        int, Number(label="GPUs per node", low=1, high=16, whole=True, advanced=True)
    ] = 8
    device: Annotated[
        str,
        Choice(
            label="Adapter",
            options={n: n for n in ("mlx5_0", "mlx5_1", "mlx5_4")},
            advanced=True,
        ),
    ] = "mlx5_0"
    interface: Annotated[
        str,
        Choice(label="Interface", options={n: n for n in ("eth0", "ens1f0np0")}, advanced=True),
    ] = "eth0"
    kernel: Annotated[
        str,
        Choice(label="Kernel", options={n: n for n in ("gemm", "flash", "norm")}, advanced=True),
    ] = "gemm"
    skip: Annotated[
        int, Number(label="Kernels to skip", low=0, high=1000, whole=True, advanced=True)
    ] = 50
    name: Annotated[
        str,
        Choice(label="Name of the output", options={n: n for n in ("trace", "before", "after")}),
    ] = "trace"
    peer: Annotated[
        str,
        Choice(label="Other node", options={n: n for n in ("10.0.0.12", "node2")}, advanced=True),
    ] = "10.0.0.12"


_LABELS = {
    key: hint.__metadata__[0].label
    for key, hint in get_type_hints(Inputs, include_extras=True).items()
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The chosen tool, and its command with the input values."""

    chosen: Command
    text: str


def solve(inputs: Inputs) -> Result:
    """Return the command of the tool, filled in."""
    return Result(chosen=COMMANDS[inputs.tool], text=fill_command(inputs))


def views(inputs: Inputs, result: Result) -> Views:
    """Return the views, in the order of the page."""
    chosen = result.chosen
    return {
        "command": Code(title="The command", language=chosen.language, text=result.text),
        "about": Badge(
            text=f"{LAYERS[chosen.layer]}: {chosen.name}",
            sentence=f"{chosen.relation} For {chosen.version}.",
        ),
        "healthy": Table(
            title="Healthy",
            columns=("A healthy job shows", "Source"),
            rows=((chosen.healthy, Citation(chosen.sources)),),
        ),
        "options": Table(
            title="What each part does",
            columns=("Part", "Meaning"),
            rows=chosen.options,
            caption=_field_note(chosen),
        ),
        "sample": Table(
            title="How to read the answer",
            columns=("A line of output", "Meaning"),
            rows=chosen.sample,
            caption="Lines in the form of the tool, made up to show what to look for.",
        ),
        "layers": _layers,
    }


def _field_note(chosen: Command) -> str:
    """Return a note of the input fields that the command uses."""
    labels = [_LABELS[name] for name in chosen.fields]
    return f"Fields in this command: {', '.join(labels)}." if labels else "It has no field."


def fill_command(inputs: Inputs) -> str:
    """Return the tool's command with the input values."""
    values = {
        "gpu": f"{inputs.gpu}",
        "rank": f"{inputs.rank}",
        "interval": f"{round(inputs.interval / MILLI)}",
        "count": f"{inputs.count}",
        "duration": f"{round(inputs.duration)}",
        "delay": f"{round(inputs.delay)}",
        "steps": f"{inputs.steps}",
        "size": f"{round(inputs.size / MiB)}M",
        "ranks": f"{inputs.ranks}",
        "gpus_per_node": f"{inputs.gpus_per_node}",
        "device": inputs.device,
        "interface": inputs.interface,
        "kernel": inputs.kernel,
        "skip": f"{inputs.skip}",
        "name": inputs.name,
        "peer": inputs.peer,
    }
    text = COMMANDS[inputs.tool].text
    for field, value in values.items():
        text = text.replace(f"<{field}>", value)
    return text


def _layers() -> Table:
    """Return all tools from the job down to the port, each with a link to itself."""
    rows: list[tuple[Cell, ...]] = [
        (
            LAYERS[command.layer],
            CalculatorLink(
                command.name, "command_builder", f"command_builder.tool={key}", keeps=True
            ),
            command.relation,
        )
        for key, command in COMMANDS.items()
    ]
    return Table(
        title="From the job down to the port",
        columns=("Layer", "Open", "What it has to do with the step"),
        rows=tuple(rows),
        links=tuple((f"tool:{key}",) for key in COMMANDS),
    )
