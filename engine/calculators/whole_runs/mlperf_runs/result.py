"""Errors of the chosen rows, the picked row, and how one log's time is made up."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, partial
from json import loads
from typing import Annotated, Any

from engine.catalog.mlperf_log import EXAMPLE
from engine.catalog.mlperf_runs import MlperfRun, mlperf_runs
from engine.catalog.mlperf_steps import MlperfStep, mlperf_steps
from engine.core.equation import Equation
from engine.core.lazy import Lazy
from engine.core.outputs import Output
from engine.core.record import record
from engine.core.units import Count, Ratio, Seconds, Share, Tokens
from engine.simulate.numerics.error_spread import ErrorSpread, median, summarize_errors

# Rows of MLPerf® Training with their predicted steps, and the names that pages give them.

BENCHMARKS: Mapping[str, str] = {
    "llama31_405b": "Llama 3.1 405B",
    "llama31_8b": "Llama 3.1 8B",
    "gpt3": "GPT-3 175B",
    "deepseekv3_671b": "DeepSeek-V3 671B",
    "gpt_oss_20b": "GPT-OSS 20B",
    "llama2_70b_lora": "Llama 2 70B LoRA",
}
NETWORKS: Mapping[str, str] = {
    "one": "one NVLink domain",
    "400": "400 Gb/s ports",
    "800": "800 Gb/s ports",
}
# Tokens of a GPU in a step, up to which a step counts as short.
SHORT: Tokens = 8192.0


# There is one object for each row, which keeps what it has told once.
@dataclass(frozen=True, kw_only=True, eq=False)
class Compared:
    """A row whose step is predicted.

    Attributes:
        row: what was measured.
        step: what is predicted.
    """

    row: MlperfRun
    step: MlperfStep

    @cached_property
    def document(self) -> Mapping[str, Any]:
        """The run file."""
        return loads(self.row.run_file)  # type: ignore[no-any-return]

    @cached_property
    def error(self) -> Ratio:
        """Predicted over measured, minus 1."""
        return self.step.predicted / self.row.step - 1

    @cached_property
    def inside(self) -> bool:
        """Whether the measured step lies in the range."""
        return self.step.low <= self.row.step <= self.step.high

    @cached_property
    def tokens(self) -> Tokens:
        """Tokens of a GPU in a step."""
        batch: Count = self.document["training"]["global_batch_size"]
        length: Count = self.document["sequence_length"]
        return batch * length / self.row.world_size

    @cached_property
    def network(self) -> str:
        """Key of its network: within one NVLink domain, or the speed of a port between them."""
        cluster = self.document["cluster"]
        if self.row.world_size <= cluster["gpus_per_node"]:
            return "one"
        return "800" if cluster["nic_bandwidth"] > 50e9 else "400"

    @cached_property
    def name(self) -> str:
        """Model and GPUs, as a reader names the run."""
        return f"{BENCHMARKS[self.row.benchmark]} on {self.row.world_size:,} {self.row.gpu}"

    @cached_property
    def plan(self) -> str:
        """The plan in the field's abbreviations, degrees of 1 left out."""
        plan = self.document["parallelism"]
        names = {
            "TP": "tensor_parallel",
            "PP": "pipeline_parallel",
            "VP": "virtual_pipeline",
            "CP": "context_parallel",
            "EP": "expert_parallel",
        }
        parts = [f"{short}{plan.get(key, 1)}" for short, key in names.items()]
        return " ".join(part for part in parts if not part.endswith("P1")) or "data parallel"


@cache
def compared() -> tuple[Compared, ...]:
    """Return the rows whose steps are compared, in the order of the table."""
    return rows_of(mlperf_steps())


def rows_of(steps: Mapping[str, MlperfStep]) -> tuple[Compared, ...]:
    """Return the rows that count, each with its predicted step."""
    return tuple(Compared(row=row, step=steps[row.key]) for row in mlperf_runs() if row.counted)


# Errors and hits of the ranges, by group of rows.


@record
class Group:
    """Rows of a group, their errors, and how often the range held.

    Attributes:
        name: of the group.
        rows: of it.
        errors: of their predicted steps.
        inside: share of rows whose measured step lies in the range.
        warned: share of rows whose estimate says that it extrapolates.
    """

    name: str
    rows: Sequence[Compared]
    errors: ErrorSpread
    inside: Share
    warned: Share


def _tokens(row: Compared) -> str:
    low = 1024
    while low * 2 <= row.tokens:
        low *= 2
    return f"{low // 1024}K tokens per GPU"


def _benchmark(row: Compared) -> str:
    name = BENCHMARKS[row.row.benchmark]
    return f"{name}, {_tokens(row)}" if row.row.benchmark == "llama31_8b" else name


DIVISIONS: Mapping[str, str] = {
    "benchmark": "benchmark",
    "tokens": "tokens of a GPU in a step",
    "gpu": "type of GPU",
    "precision": "precision",
    "network": "network",
    "version": "version",
    "range": "class of the range",
    "warned": "whether the estimate extrapolates",
    "calibrates": "whether the range was calibrated on it",
}
_GROUP: Mapping[str, Callable[[Compared], str]] = {
    "benchmark": _benchmark,
    "tokens": _tokens,
    "gpu": lambda row: row.row.gpu,
    "precision": lambda row: row.row.precision.split()[0].upper(),
    "network": lambda row: NETWORKS[row.network],
    "version": lambda row: row.row.version,
    "range": lambda row: row.step.range_class,
    "warned": lambda row: "it says that it extrapolates" if row.step.warned else "no warning",
    "calibrates": lambda row: "calibrated on it" if row.step.calibrates else "beyond the fit",
}


def _sort_key(name: str, division: str) -> tuple[int, int, str]:
    """Return the sort key of a group: benchmarks in their order, numbers by size, words by name."""
    first = next((i for i, title in enumerate(BENCHMARKS.values()) if name.startswith(title)), 0)
    digits = name.partition(", ")[2] or name
    number = digits.split("K ")[0]
    size = int(number) if number.isdigit() else 0
    return (first if division == "benchmark" else 0), size, name


def groups(rows: Sequence[Compared], division: str) -> tuple[Group, ...]:
    """Return the groups of the rows that are not empty."""
    parts: dict[str, list[Compared]] = {}
    for row in rows:
        parts.setdefault(_GROUP[division](row), []).append(row)
    names = sorted(parts, key=lambda name: _sort_key(name, division))
    return tuple(_group(name, parts[name]) for name in names)


def _group(name: str, rows: Sequence[Compared]) -> Group:
    return Group(
        name=name,
        rows=rows,
        errors=summarize_errors([row.error for row in rows]),
        inside=sum(row.inside for row in rows) / len(rows),
        warned=sum(row.step.warned for row in rows) / len(rows),
    )


TIME_TO_TRAIN = Equation(
    name="time_to_train",
    tex=r"\v{T} = \v{n}\,\v{t} + \v{m}\,\v{v}",
    symbols={
        "T": ("T", "time to train"),
        "n": ("n", "steps until the target is reached"),
        "t": ("t", "a step"),
        "m": ("m", "evaluations"),
        "v": ("v", "an evaluation"),
    },
)
_SOURCES = ("mlcommons_results",)
_UNVERIFIED = (
    "Step times are derived from the logs of MLPerf® Training. They are not its metric, which is "
    "the time to train, and they are not verified by MLCommons Association."
)
_TOGETHER = (
    "Error: predicted step time divided by the measured one, minus one. Above zero the prediction "
    "is too slow.",
    _UNVERIFIED,
    "Rows of engine/catalog/mlperf_table.tsv with a run file; logs submitted twice count once.",
)
_LOG = (
    "One log of NVIDIA, theia_ngpu72_ngc25.09_nemo, Llama 3.1 8B, version 5.1, Closed division; "
    "the step is the median over all logs of that row.",
    _UNVERIFIED,
)


def _compared(label: str) -> Output:
    return Output(label, assumes=_TOGETHER, basis="compared", sources=_SOURCES)


def _logged(label: str, symbol: str = "") -> Output:
    return Output(label, symbol, assumes=_LOG, basis="measured", sources=_SOURCES)


def _counted(label: str, assumes: str) -> Output:
    return Output(label, assumes=(assumes,), basis="definition", sources=_SOURCES)


@dataclass(frozen=True, slots=True, kw_only=True)
class Picked:
    """The row that the reader picked; zeros if none is left."""

    row: Compared | None
    picked_step: Annotated[
        Seconds, Output("Predicted", color="compute", assumes=("No row has a factor of its own.",))
    ]
    picked_measured: Annotated[
        Seconds,
        Output(
            "Measured, unverified",
            color="accent",
            basis="measured",
            assumes=("The median step of its logs.", _UNVERIFIED),
            sources=_SOURCES,
        ),
    ]
    picked_jitter: Ratio


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The chosen rows and their errors."""

    chosen: tuple[Compared, ...]
    picked: Picked
    groups: Lazy[tuple[Group, ...]]
    rows: Annotated[Count, _compared("Rows")]
    mean: Annotated[Share, _compared("Mean error")]
    median: Annotated[Share, _compared("Median error")]
    bias: Annotated[Share, _compared("Bias")]
    worst: Annotated[Share, _compared("Worst error")]
    inside: Annotated[Share, _compared("In the range")]
    jitter_median: Annotated[Ratio, _logged("Jitter, median of the rows")]
    jitter_most: Annotated[Ratio, _logged("Largest jitter")]
    pauses_most: Annotated[Ratio, _logged("Mean step over median, at most")]
    unfit: Annotated[
        Count,
        Output(
            "Plans that do not fit by the model",
            note="of {rows} that ran",
            assumes=("Predicted memory of the GPU that holds most; each of these plans ran.",),
        ),
    ]
    seen: Annotated[
        Count, _counted("Rows that a constant has seen", "Rows that any constant was fitted to.")
    ]
    calibrating: Annotated[
        Count,
        _counted(
            "Rows that ranges were calibrated on",
            "The ranges of their classes were chosen so that most of these rows lie inside.",
        ),
    ]
    inside_new: Annotated[Share, _compared("In the range, of the rows beyond the fit")]
    unseen: Annotated[
        Count, _counted("Rows that no constant has seen", "No constant was fitted to these rows.")
    ]
    duplicates: Annotated[
        Count, _counted("Logs submitted again", "Equal step times in two rounds; they count once.")
    ]
    unpredicted: Annotated[
        Count,
        _counted("Rows without a prediction", "Their GPU is in no catalog, or no step is logged."),
    ]
    to_train: Annotated[Seconds, Output("Steps and evaluations", "T", assumes=_LOG)]
    steps: Annotated[Count, _logged("Steps", "n")]
    step: Annotated[Seconds, _logged("Median step", "t")]
    evaluations: Annotated[Count, _logged("Evaluations", "m")]
    evaluation: Annotated[Seconds, _logged("An evaluation", "v")]
    evaluation_share: Annotated[Share, _logged("Evaluation, of the clock")]
    clock: Annotated[Seconds, _logged("On the clock")]
    untimed: Annotated[Seconds, _logged("Before the clock")]


def picked_row(row: Compared | None) -> Picked:
    """Return a row with its prediction."""
    return Picked(
        row=row,
        picked_step=row.step.predicted if row else 0.0,
        picked_measured=row.row.step if row else 0.0,
        picked_jitter=row.row.jitter if row else 0.0,
    )


def result_of(chosen: Sequence[Compared], pick: Count, division: str) -> Result:
    """Return the errors of the chosen rows, in their order, and the picked one of them."""
    spread = summarize_errors([row.error for row in chosen])
    every = mlperf_runs()
    example = next(row for row in every if row.key == EXAMPLE.key)
    jitters = [row.row.jitter for row in chosen if row.row.jitter] or [0.0]
    new = [row.inside for row in chosen if not row.step.calibrates]
    pauses = [row.row.block_mean / row.row.step for row in chosen]
    return Result(
        chosen=tuple(chosen),
        picked=picked_row(chosen[min(pick, len(chosen)) - 1] if chosen else None),
        groups=Lazy(partial(groups, chosen, division)),
        rows=len(chosen),
        mean=spread.mean,
        median=spread.median,
        bias=spread.bias,
        worst=spread.worst,
        inside=sum(row.inside for row in chosen) / max(1, len(chosen)),
        jitter_median=median(jitters),
        jitter_most=max(jitters),
        pauses_most=max(pauses, default=0.0),
        unfit=sum(not row.step.fits for row in chosen),
        seen=sum(row.step.seen for row in chosen),
        calibrating=len(chosen) - len(new),
        inside_new=sum(new) / max(1, len(new)),
        unseen=sum(not row.step.seen for row in chosen),
        duplicates=sum(bool(row.duplicate_of) for row in every),
        unpredicted=sum(not row.run_file for row in every),
        to_train=EXAMPLE.steps * example.step + EXAMPLE.evaluations * EXAMPLE.evaluation,
        steps=EXAMPLE.steps,
        step=example.step,
        evaluations=EXAMPLE.evaluations,
        evaluation=EXAMPLE.evaluation,
        evaluation_share=EXAMPLE.evaluations * EXAMPLE.evaluation / EXAMPLE.run,
        clock=EXAMPLE.run,
        untimed=EXAMPLE.start,
    )
