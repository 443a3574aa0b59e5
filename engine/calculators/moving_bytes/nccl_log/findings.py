"""Facts read from a log: versions, network, choices, variables and unread lines."""

from engine.calculators.moving_bytes.nccl_log.result import Result
from engine.catalog.nccl_constants import VERSION
from engine.catalog.nccl_variables import VARIABLES
from engine.catalog.nodes import NODES
from engine.core.text import Text, say
from engine.core.units import COUNT, SECONDS
from engine.core.views import Cell, Table
from engine.form.collective_names import TESTED
from engine.form.nccl_fields import size_text
from engine.run.logs.nccl_debug import NcclChoice
from engine.run.logs.nccl_tests import LineNote

_SHOWN = 12
_NODES_FROM = "hosts in the text (a rack counts once), you, or the GPUs of a machine"
_KINDS = {
    "system": "describes the system; may stay",
    "debugging": "for debugging; take it out of jobs",
    "logging": "prints",
}


def choice_table(result: Result) -> Table:
    """Return the table of NCCL's choices beside the model's fastest."""
    return Table(
        title="What NCCL chose",
        columns=("Operation", "Message", "Algorithm, protocol", "Channels", "Model's choice"),
        rows=tuple(_choice_row(result, chosen, ours) for chosen, ours in result.chosen())
        or (("none in the text", "", "", "", ""),),
        caption="From lines of NCCL_DEBUG_SUBSYS=TUNING, each operation and size once.",
    )


def _choice_row(result: Result, chosen: NcclChoice, ours: str) -> tuple[Cell, ...]:
    operation = chosen.operation or result.found.setting.operation
    planned = say("{t} planned", t=(chosen.time, SECONDS)) if chosen.time else ""
    return (
        TESTED.get(operation, operation),
        size_text(chosen.size),
        f"{chosen.algorithm} {chosen.protocol}".strip(),
        say("{n}", n=(chosen.channels, COUNT)) if chosen.channels else planned,
        ours,
    )


def variable_table(result: Result) -> Table:
    """Return the table of NCCL variables in the environment, with advice."""
    rows: list[tuple[Cell, ...]] = []
    for variable in result.text.variables:
        known = VARIABLES.get(variable.name)
        rows.append(
            (
                variable.name,
                variable.value,
                say("{n}", n=(variable.line, COUNT)),
                _KINDS[known.kind] if known else "not in the table of this page",
                f"Never: {known.never}" if known else "",
            )
        )
    return Table(
        title="Variables that the environment sets",
        columns=("Variable", "Value", "Line", "Kind", "When not"),
        rows=tuple(rows) or (("none in the text", "", "", "", ""),),
        caption="From the command, a script, or lines of NCCL_DEBUG_SUBSYS=ENV. Every one of them "
        "changes what was measured.",
    )


def reading_table(result: Result) -> Table:
    """Return the table of facts read from the text, with their origin."""
    rows = [
        *_setting_rows(result),
        *_unjudged_rows(result),
        *_debug_rows(result),
        *_unread_rows(result),
    ]
    return Table(title="What was read", columns=("What", "Read", "From"), rows=tuple(rows))


def _setting_rows(result: Result) -> list[tuple[Cell, ...]]:
    setting, table, debug = result.found.setting, result.text.table, result.text.debug
    version = (table.version if table else "") or (debug.version if debug else "")
    counted = "the text, or you" if setting.counted else "the ratio of two columns, or one node"
    named = "you" if setting.chosen else "the name of the GPU, or Amazon's plug-in"
    machine = NODES[setting.machine].name if setting.machine else "not known"
    devices = ", ".join(result.text.devices[:_SHOWN])
    operation = TESTED.get(setting.operation, setting.operation)
    return [
        ("Rows of a table", _count_text(len(result.found.rows)), "nccl-tests"),
        ("Operation", operation, "the text, or you"),
        ("GPU", devices or "not named", "the list of ranks"),
        ("Machine", machine, named),
        ("GPUs", _count_text(result.ranks) if result.ranks else "not known", counted),
        ("Nodes", _count_text(result.nodes) if result.nodes else "not known", _NODES_FROM),
        ("NCCL", version_text(version), "its own line"),
    ]


def version_text(version: str) -> str:
    """Return what the table says of the NCCL that wrote the text, e.g. 2.27.7."""
    major, minor = (int(part) for part in VERSION.split("."))
    numbers = [int(part) for part in version.split(".")[:2]] if version else []
    if numbers > [major, minor]:
        return f"{version}: newer than this model, which chooses as {VERSION} does"
    return version or "not named"


def _unjudged_rows(result: Result) -> list[tuple[Cell, ...]]:
    """Return the operations of the text that are not judged."""
    if not (names := result.found.others):
        return []
    words = ", ".join(TESTED.get(name, name) for name in names)
    return [("Other tables", words, "the text; choose one under Operation")]


def _debug_rows(result: Result) -> list[tuple[Cell, ...]]:
    debug = result.text.debug
    if debug is None:
        return []
    ways = ", ".join(f"{name}: {count}" for name, count in sorted(debug.ways.items()))
    rows: list[tuple[Cell, ...]] = [
        ("Network", debug.network or "not named", "Using network"),
        ("Channels by wire", ways or "not listed", "lines with via"),
        ("Sums in the NVSwitch", debug.multicast or "not named", "NVLS multicast support"),
    ]
    if debug.ports:
        rows.append(("Ports in use", _count_text(debug.ports), f"NET/IB, {debug.fabric}"))
    between = sum(count for name, count in debug.ways.items() if name.startswith("NET"))
    if between:
        words = say("{d} of {n} channels", d=(debug.direct, COUNT), n=(between, COUNT))
        rows.append(("GPUDirect RDMA", words, "GDRDMA"))
    if debug.rack:
        rows.append(("NVLink between hosts", debug.rack, "MNNVL"))
    rows += [("Warning", note.reason, _line_number(note)) for note in debug.warnings[:_SHOWN]]
    return rows


def _unread_rows(result: Result) -> list[tuple[Cell, ...]]:
    table, debug = result.text.table, result.text.debug
    notes = [*(table.notes if table else ()), *(debug.notes if debug else ())]
    rows: list[tuple[Cell, ...]] = [("Lines in doubt", _count_text(len(notes)), "")]
    rows += [("In doubt", note.reason, _line_number(note)) for note in notes[:_SHOWN]]
    return rows


def _line_number(note: LineNote) -> Text:
    return say("line {n}", n=(note.line, COUNT))


def _count_text(number: int) -> Text:
    return say("{n}", n=(number, COUNT))
