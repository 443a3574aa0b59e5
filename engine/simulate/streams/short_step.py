"""A short step for hand calculation: two layers, two reductions, whole milliseconds."""

from dataclasses import dataclass

from engine.core.units import MILLI, Count, Ratio, Seconds
from engine.simulate.streams.stream_account import StepAccount, step_account
from engine.simulate.streams.streams import COMPUTE, LAUNCH, NETWORK, OpSpan, StreamOp, run_program

TOKENS: Count = 1700
_FORWARD, _BACKWARD, _OPTIMIZER, _REDUCE = (4 * MILLI, 4 * MILLI, 2 * MILLI, 3 * MILLI)


@dataclass(frozen=True, slots=True, kw_only=True)
class ShortStep:
    """Spans and time account of the step."""

    spans: tuple[OpSpan, ...]
    parts: StepAccount


def short_step(products: Ratio = 1.0, network: Ratio = 1.0, late: Seconds = 0.0) -> ShortStep:
    """Return the step: forward, backward of two layers, each with its reduction, optimizer.

    Args:
        products: rate of the matrix products over the predicted rate.
        network: rate of the network over the predicted rate.
        late: delay of the host at the start of the step.
    """
    backward, reduce = _BACKWARD / products, _REDUCE / network
    spans = run_program(
        (
            StreamOp(key="host", stream=LAUNCH, time=late, label="host"),
            StreamOp(
                key="forward",
                stream=COMPUTE,
                time=_FORWARD / products,
                after=("host",),
                label="forward",
            ),
            StreamOp(key="backward 2", stream=COMPUTE, time=backward, label="backward 2"),
            StreamOp(key="backward 1", stream=COMPUTE, time=backward, label="backward 1"),
            _reduction("2", reduce),
            _reduction("1", reduce),
            StreamOp(
                key="optimizer",
                stream=COMPUTE,
                time=_OPTIMIZER,
                after=("reduce 1",),
                label="optimizer",
            ),
        )
    )
    return ShortStep(spans=spans, parts=step_account(spans))


def _reduction(layer: str, time: Seconds) -> StreamOp:
    return StreamOp(
        key=f"reduce {layer}",
        stream=NETWORK,
        time=time,
        after=(f"backward {layer}",),
        label=f"reduce {layer}",
    )
