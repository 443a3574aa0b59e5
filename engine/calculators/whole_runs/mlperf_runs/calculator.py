"""Steps of MLPerf® Training: measured in audited runs, and predicted."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Annotated

from engine.calculators.whole_runs.mlperf_runs import charts, tables
from engine.calculators.whole_runs.mlperf_runs import views as words
from engine.calculators.whole_runs.mlperf_runs.groups import DIVISIONS
from engine.calculators.whole_runs.mlperf_runs.read import (
    BENCHMARKS,
    NETWORKS,
    SHORT,
    Compared,
    compared,
)
from engine.calculators.whole_runs.mlperf_runs.result import TIME_TO_TRAIN, Result, result_of
from engine.core.inputs import Choice, Number
from engine.core.outputs import Presenter, Views

TITLE = "MLPerf® Training"
QUESTION = "How far are predicted steps from those of audited runs?"
EQUATIONS = (TIME_TO_TRAIN,)
PRESETS = {
    "Short steps": {"tokens": "short", "across": "tokens"},
    "Mixtures: DeepSeek-V3": {"benchmark": "deepseekv3_671b", "across": "gpus"},
    "By type of GPU": {"division": "gpu"},
}
ALL = "all"
_GPUS = tuple(sorted({row.row.gpu for row in compared()}))
_SUBMITTERS = tuple(sorted({row.row.submitter for row in compared()}))
_PAGES = -(-len(compared()) // tables.PER_PAGE)
_KEYS: Mapping[str, Callable[[Compared], float]] = {
    "worst": lambda row: -abs(row.error),
    "fast": lambda row: row.error,
    "slow": lambda row: -row.error,
    "short": lambda row: row.tokens,
}


def _options(names: tuple[str, ...]) -> dict[str, str]:
    return {ALL: "all"} | {name: name for name in names}


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """The calculator's inputs: filter, order and view of the rows."""

    benchmark: Annotated[
        str, Choice(label="Benchmark", options={ALL: "all"} | dict(BENCHMARKS))
    ] = ALL
    gpu: Annotated[str, Choice(label="GPU", options=_options(_GPUS))] = ALL
    network: Annotated[str, Choice(label="Network", options={ALL: "all"} | dict(NETWORKS))] = ALL
    submitter: Annotated[str, Choice(label="Submitter", options=_options(_SUBMITTERS))] = ALL
    tokens: Annotated[
        str,
        Choice(
            label="Tokens of a GPU in a step",
            options={ALL: "all", "short": f"{SHORT:,.0f} or fewer", "long": "more"},
        ),
    ] = ALL
    order: Annotated[
        str,
        Choice(
            label="Order",
            options={
                "worst": "largest miss first",
                "fast": "too fast first",
                "slow": "too slow first",
                "short": "fewest tokens first",
            },
        ),
    ] = "worst"
    pick: Annotated[
        int,
        Number(
            label="Row",
            low=1,
            high=len(compared()),
            whole=True,
            help="Of the chosen rows, in their order.",
        ),
    ] = 1
    across: Annotated[str, Choice(label="Across", options=charts.ACROSS)] = "step"
    division: Annotated[str, Choice(label="Group by", options=DIVISIONS)] = "benchmark"
    page: Annotated[int, Number(label="Page", low=1, high=_PAGES, whole=True)] = 1


def solve(inputs: Inputs) -> Result:
    """Return the chosen rows, their errors, and the picked row."""
    chosen = [row for row in compared() if _wanted(row, inputs)]
    return result_of(sorted(chosen, key=_KEYS[inputs.order]), inputs.pick, inputs.division)


def _wanted(row: Compared, inputs: Inputs) -> bool:
    size = "short" if row.tokens <= SHORT else "long"
    return (
        inputs.benchmark in (ALL, row.row.benchmark)
        and inputs.gpu in (ALL, row.row.gpu)
        and inputs.network in (ALL, row.network)
        and inputs.submitter in (ALL, row.row.submitter)
        and inputs.tokens in (ALL, size)
    )


def views(inputs: Inputs, result: Result) -> Views:
    """Return the views, in the order of the page."""
    present = Presenter(result, equations=EQUATIONS)
    picked = result.picked
    chosen = Presenter(picked)
    return {
        **present.values("rows", "mean", "median", "bias", "worst", "inside"),
        "scatter": partial(charts.scatter, result, inputs.across),
        "picked_verdict": words.verdict(chosen, picked),
        "picked_bars": partial(charts.bars, picked),
        **chosen.values("picked_step", "picked_measured"),
        "table": partial(tables.run_table, result.chosen, inputs.page),
        "picked_table": partial(tables.picked_table, picked),
        "run_file": partial(words.run_file, picked),
        "jitters": partial(charts.jitters, result.chosen),
        "groups": partial(tables.group_table, result),
        **present.values("jitter_median", "jitter_most", "pauses_most", "unfit"),
        **present.values("seen", "unseen", "calibrating", "inside_new"),
        **present.values("duplicates", "unpredicted"),
        **present.values("to_train", "steps", "step", "evaluations", "evaluation"),
        **present.values("evaluation_share", "clock", "untimed"),
        "challenge": partial(words.challenge, present, result),
    }
