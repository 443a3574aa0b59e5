"""The cost of compression: an all-reduce, a gathered top-k and thin factors, by number of GPUs."""

from functools import partial

from engine.calculators.whole_runs.compression_cost import charts
from engine.calculators.whole_runs.compression_cost.inputs import (
    COUNTS,
    VALUES,
    Result,
    job,
)
from engine.calculators.whole_runs.compression_cost.inputs import PRESETS as PRESETS
from engine.calculators.whole_runs.compression_cost.inputs import Inputs as Inputs
from engine.core.outputs import Teller, Views
from engine.core.units import Count
from engine.formulas.compression import (
    TOP_K_BREAK_EVEN,
    TOP_K_BYTES,
    low_rank_numbers,
    top_k_sends_more_from,
)
from engine.formulas.parameters import total_parameters
from engine.simulate.data_parallel.compressed_sync import Ways, owed_bytes, spare, ways

TITLE = "What compression costs"
QUESTION = "On how many GPUs does sending less take less time?"
EQUATIONS = (TOP_K_BYTES, TOP_K_BREAK_EVEN)


def solve(inputs: Inputs) -> Result:
    """Return every number of the page."""
    run, value = job(inputs), VALUES[inputs.value]
    size = total_parameters(run.model)

    def at(ranks: Count) -> Ways:
        return ways(run, ranks, value, inputs.keep, inputs.rank)

    now = at(inputs.world_size)
    return Result(
        run=run,
        now=now,
        curve=tuple(at(ranks) for ranks in COUNTS),
        dense_sent=now.dense.sent,
        top_k_sent=now.top_k.sent,
        low_rank_sent=now.low_rank.sent,
        break_even=top_k_sends_more_from(inputs.keep, value, value),
        smaller=size / low_rank_numbers(run.model, inputs.rank),
        dense_time=now.dense.total,
        top_k_time=now.top_k.total,
        low_rank_time=now.low_rank.total,
        owed=owed_bytes(run),
        room=spare(run, feedback=True),
        top_k_work=now.top_k.work,
        low_rank_work=now.low_rank.work,
        size=size,
        dense_value=value,
        element=value,
    )


def views(inputs: Inputs, result: Result) -> Views:
    """Return the views, in the order of the page."""
    tell = Teller(result, inputs, equations=EQUATIONS)
    return {
        **tell.values("break_even"),
        "verdict": charts.verdict(tell, result),
        "curve": partial(charts.curve, inputs, result),
        **tell.values("dense_sent", "top_k_sent", "low_rank_sent", "smaller"),
        **tell.values("dense_time", "top_k_time", "low_rank_time", "owed", "room"),
        "table": partial(charts.table, tell, result),
        "challenge": charts.challenge(inputs, result),
    }
