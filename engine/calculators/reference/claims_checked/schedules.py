"""Claims about pipeline schedules: the cost of more micro-batches, and the idle time."""

from engine.calculators.reference.claims_checked.claim import Claim
from engine.catalog.transports import INFINIBAND
from engine.core.text import say
from engine.core.units import BYTES, COUNT, GB, SECONDS, SHARE
from engine.formulas.communication import point_to_point_time
from engine.formulas.pipeline import (
    bubble_share,
    ideal_step,
    one_f_one_b_peak,
    pipeline_bytes,
    printed_step,
)
from engine.formulas.pipeline_idle import dualpipe_idle, one_f_one_b_idle, zb_h1_idle

_PIPELINE = "pingdo_pipeline"
_BATCH = 2.0 * 8 * 4096 * 8192  # the hidden states of a batch of 8 sequences


def claims() -> tuple[Claim, ...]:
    """Return the claims: the step, then the schedules."""
    return (*_steps(), *_schedules())


def _steps() -> tuple[Claim, ...]:
    def sent(count: int) -> float:
        return pipeline_bytes(count, 4, _BATCH / count)

    def step(count: int) -> float:
        return ideal_step(4, count) / count

    return (
        Claim(
            key="E4.31",
            said="Length of a step over that without any waiting, with 4 and with 32 micro-batches",
            printed=say(
                "{few} and {many}", few=(printed_step(4), COUNT), many=(printed_step(32), COUNT)
            ),
            right=say(
                "{few} and {many} with 4 stages", few=(step(4), COUNT), many=(step(32), COUNT)
            ),
            verdict="wrong",
            why="The printed formula has no stages in it, and its step grows with the number of "
            "micro-batches.",
            sources=(_PIPELINE, "huang2019"),
        ),
        Claim(
            key="E4.8",
            said="What raises the utilization to 80 %: twice the micro-batches, or one stage less",
            printed="8 to 16, or 4 to 3",
            right=say(
                "{more} with 16, {less} with 3 stages",
                more=(1 - bubble_share(4, 16), SHARE),
                less=(1 - bubble_share(3, 8), SHARE),
            ),
            verdict="condition",
            why="Twice the micro-batches are twice the batch. Three stages do not divide 80 "
            "layers.",
            sources=(_PIPELINE,),
        ),
        Claim(
            key="E4.9",
            said="How a pipeline's communication depends on the number of micro-batches",
            printed="it grows with it",
            right=say(
                "the same batch sends {few} in 8 and {many} in 64",
                few=(sent(8), BYTES),
                many=(sent(64), BYTES),
            ),
            verdict="misleading",
            why=say(
                "A batch cut into more micro-batches sends the same bytes in more and smaller "
                "messages. Only the latency grows: with {hop} for each message, 64 take {t}.",
                hop=(INFINIBAND.step, SECONDS),
                t=(64 * point_to_point_time(0.0, GB, INFINIBAND.step), SECONDS),
            ),
            sources=(_PIPELINE, "narayanan2021"),
        ),
    )


def _schedules() -> tuple[Claim, ...]:
    usual = one_f_one_b_idle(8, 1.0, 1.0, 1.0)
    split = zb_h1_idle(8, 1.0, 1.0, 1.0)
    both = dualpipe_idle(8, 3.0, 2.0, 1.0)
    return (
        Claim(
            key="E0.5",
            said="How much waiting the best schedules leave",
            printed="none",
            right=say(
                "{a} units with 1F1B, {b} with ZB-H1 and {c} with DualPipe, on 8 stages",
                a=(usual, COUNT),
                b=(split, COUNT),
                c=(both, COUNT),
            ),
            verdict="misleading",
            why="Better schedules wait less, but they still wait. DualPipe also keeps two copies "
            "of the parameters. A forward pass takes one unit here, a backward pass two, of which "
            "one is for the weights, and an overlapped pair takes three.",
            sources=("day1inference", "deepseek2024", "qi2024"),
        ),
        Claim(
            key="E4.17",
            said="How memory for activations depends on the number of micro-batches",
            printed="it is proportional",
            right=say(
                "{few} held on the first of 4 stages with 8 micro-batches, {many} with 64",
                few=(one_f_one_b_peak(0, 4, 8), COUNT),
                many=(one_f_one_b_peak(0, 4, 64), COUNT),
            ),
            verdict="wrong",
            why="The claim holds for GPipe. With 1F1B a stage holds the activations of at most as "
            "many micro-batches as there are stages.",
            sources=(_PIPELINE, "narayanan2021"),
        ),
    )
