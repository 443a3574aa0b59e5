"""Published runs: names, groups, and inputs of an estimate."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property

from engine.catalog.published_runs import SOURCES
from engine.core.units import Bytes, Count, Ratio, Seconds
from engine.form.run.form_values import estimate_query, inputs_of
from engine.form.run.inputs import Inputs
from engine.formulas.parameters import total_parameters
from engine.run.published import PublishedRun
from engine.simulate.step.published_runs import PredictedRun, predictions

_FAMILIES = ("GB200", "GB300", "B200", "B300", "A100", "H100")
_SIZE = {
    "gpus": "world_size",
    "tensor": "tensor_parallel",
    "pipeline": "pipeline_parallel",
    "sequence": "sequence_length",
    "batch": "micro_batch_size",
}


# There is one object for each run, which keeps what it has told once.
@dataclass(frozen=True, kw_only=True, eq=False)
class Published:
    """A published run.

    Attributes:
        name: of the model.
        family: the type of GPU.
        inputs: the inputs of `estimate_run` that give this run.
        found: what was measured, and what is predicted.
    """

    name: str
    family: str
    inputs: Inputs
    found: PredictedRun

    @cached_property
    def case(self) -> PublishedRun:
        """The run with its measurements."""
        return self.found.case

    @cached_property
    def key(self) -> str:
        """Of the row in the table of published runs."""
        return self.case.row["row_id"]

    @cached_property
    def source(self) -> int:
        """Index of its source."""
        return tuple(SOURCES).index(self.case.row["source_file"])

    @cached_property
    def cited(self) -> tuple[str, str]:
        """The key of the bibliography and the name of its source."""
        return SOURCES[self.case.row["source_file"]]

    @cached_property
    def measured(self) -> Seconds:
        """Of a step."""
        return self.case.time

    @cached_property
    def predicted(self) -> Seconds:
        """Of a step."""
        return self.found.time

    @cached_property
    def error(self) -> Ratio:
        """Predicted over measured, minus 1."""
        return self.found.error

    @cached_property
    def memory(self) -> tuple[Bytes, ...]:
        """Measured and predicted peak; empty where none was published."""
        measured, predicted = self.case.held, self.found.memory
        return () if measured is None or predicted is None else (measured, predicted)

    @cached_property
    def kind(self) -> str:
        """Whether the model has experts."""
        return "mixture" if self.case.moe else "dense"

    @cached_property
    def world_size(self) -> Count:
        """All GPUs."""
        return self.inputs.world_size


@cache
def published() -> tuple[Published, ...]:
    """Return all runs."""
    return tuple(
        Published(
            name=_name(prediction.case),
            family=_family(prediction.case.run.cluster.gpu.name),
            inputs=inputs_of(prediction.case.run),
            found=prediction,
        )
        for prediction in predictions()
    )


def _name(case: PublishedRun) -> str:
    """Return the model's normalized name without remarks, and a cut model's layers."""
    if "layer-cut" in case.row["model"]:  # one name would stand for six sizes
        return f"{case.row['model'].partition(' (')[0]}, {case.run.model.num_layers} layers"
    name = re.sub(r"\s*\(.*\)", "", case.row["model"]).replace("GPT/BLOOM", "BLOOM-like")
    name = re.sub(r"^(?:LLAMA|Llama-?|llama)\s?(\d)", r"Llama \1", name).replace("GPT3", "GPT-3")
    name = re.sub(r"^(Llama [\d.]+)-(\d+[Bb])", r"\1 \2", name).replace("70b", "70B")
    name = name.replace("mpt-", "MPT-").replace(" class", "")
    if name == "GPT":
        return f"GPT {total_parameters(case.run.model) / 1e9:.1f}B"
    if name.startswith("MPT"):
        return name[:-1] + name[-1].upper()
    if name.startswith("Llama 3 70B "):
        return name.replace("70B ", "70B, ")
    name = name.replace("deepseekv2 ", "DeepSeek-V2, ")
    return re.sub(r"^(GPT-3)-", r"\1 ", name)


def _family(gpu: str) -> str:
    return next(family for family in _FAMILIES if gpu.startswith(family))


@cache
def group_of(row: Published, by: str) -> str:
    """Return the group of a run: its source, GPU, precision, or a size down to a power of two."""
    if by == "source":
        return row.cited[1] + (" (mixtures)" if row.case.moe else "")
    if by == "gpu":
        return row.family
    if by == "board":
        return "B200/300" if row.family in ("B200", "B300") else row.family
    if by == "precision":
        return row.inputs.precision
    return str(1 << (int(getattr(row.inputs, _SIZE[by])).bit_length() - 1))


def split(rows: Sequence[Published], by: str) -> dict[str, list[Published]]:
    """Return the runs of each group, groups in the order of their sizes or names."""
    parts: dict[str, list[Published]] = {}
    for row in rows:
        parts.setdefault(group_of(row, by), []).append(row)
    return {name: parts[name] for name in sorted(parts, key=_order)}


def _order(name: str) -> tuple[int, str]:
    return int(name) if name.isdigit() else 0, name.lower()


def named(rows: Sequence[Published]) -> tuple[str, ...]:
    """Return the bibliography's keys of the sources of the rows, each once."""
    return tuple(dict.fromkeys(row.cited[0] for row in rows))


def query_of(row: Published) -> str:
    """Return the query string of this run in `estimate_run`."""
    return estimate_query(row.inputs)
