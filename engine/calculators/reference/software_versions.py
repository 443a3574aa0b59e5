"""Software versions: what the pages were read at, what is newest, and what changed in between."""

from dataclasses import dataclass
from functools import partial
from typing import Annotated

from engine.catalog.software import CHECKED, SOFTWARE, Software
from engine.catalog.software_changes import CHANGES
from engine.core.inputs import Choice
from engine.core.outputs import Output, Presenter, Views
from engine.core.units import Count
from engine.core.views import Citation, Table

ALL = "all"
_OPTIONS = {ALL: "all", **{name: name for name in dict.fromkeys(row.software for row in CHANGES)}}
_READ = (f"Newest releases are those known on {CHECKED}.",)


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """The calculator's inputs."""

    software: Annotated[str, Choice(label="Changes of", options=_OPTIONS)] = ALL


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """Numbers of programs, of those behind, and of changes shown."""

    named: Annotated[Count, Output("Programs and libraries", assumes=_READ)]
    behind: Annotated[Count, Output("Of them read at an older version", assumes=_READ)]
    changes: Annotated[Count, Output("Changes listed", assumes=_READ)]


def solve(inputs: Inputs) -> Result:
    """Return every number of the page."""
    return Result(
        named=len(SOFTWARE),
        behind=sum(row.is_behind for row in SOFTWARE),
        changes=sum(inputs.software in (ALL, row.software) for row in CHANGES),
    )


def _newest(row: Software) -> str:
    return f"{row.newest} ({row.newest_date})" if row.newest else "not established"


def versions_table() -> Table:
    """Return each program with the version read and the newest one."""
    return Table(
        title="Read at, and newest",
        columns=("Software", "Package", "Read at", "Newest", "Compared", "Source"),
        rows=tuple(
            (
                row.name,
                row.package or "–",
                row.read_at,
                _newest(row),
                row.tested or ("the same version" if row.newest else "–"),
                Citation((row.source,)),
            )
            for row in SOFTWARE
        ),
        caption=f"Newest: known on {CHECKED}, with the month of the release.",
    )


def changes_table(software: str) -> Table:
    """Return the changes of one program, or of all."""
    return Table(
        title="What changed when",
        columns=("Software", "Version", "Date", "Before", "Since", "These pages go by", "Source"),
        rows=tuple(
            (
                row.software,
                row.version,
                row.date,
                row.before,
                row.since,
                row.engine,
                Citation((row.source,)),
            )
            for row in CHANGES
            if software in (ALL, row.software)
        ),
        caption="Version: the first that has it; main: the main branch, and no release yet.",
    )


TITLE = "What changed when"
QUESTION = "How old is what these pages say about software?"
HEADLINE = "named"
EQUATIONS = ()
PRESETS = {"NCCL": {"software": "NCCL"}, "PyTorch": {"software": "PyTorch"}}


def views(inputs: Inputs, result: Result) -> Views:
    """Return the numbers and both tables."""
    present = Presenter(inputs, result)
    return {
        **present.values("named", "behind", "changes"),
        "versions": versions_table,
        "changed": partial(changes_table, inputs.software),
    }
