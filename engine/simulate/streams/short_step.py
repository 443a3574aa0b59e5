"""A step to check by hand: two layers, two reductions, whole milliseconds."""

from dataclasses import dataclass

from engine.core.units import MILLI, Count, Ratio, Seconds
from engine.simulate.streams.stream_account import Account, account
from engine.simulate.streams.streams import COMPUTE, LAUNCH, NETWORK, Op, Span, run

TOKENS: Count = 1700
_FORWARD, _BACKWARD, _OPTIMIZER, _REDUCE = (4 * MILLI, 4 * MILLI, 2 * MILLI, 3 * MILLI)


@dataclass(frozen=True, slots=True, kw_only=True)
class ShortStep:
    """What ran when, and what it adds up to."""

    spans: tuple[Span, ...]
    parts: Account


def short_step(products: Ratio = 1.0, network: Ratio = 1.0, late: Seconds = 0.0) -> ShortStep:
    """Return the step: forward, backward of two layers, each with its reduction, optimizer.

    Args:
        products: rate of the products, over what was predicted.
        network: likewise of the network.
        late: by which the host starts the step too late.
    """
    backward, reduce = _BACKWARD / products, _REDUCE / network
    spans = run(
        (
            Op(key="host", stream=LAUNCH, time=late, label="host"),
            Op(
                key="forward",
                stream=COMPUTE,
                time=_FORWARD / products,
                after=("host",),
                label="forward",
            ),
            Op(key="backward 2", stream=COMPUTE, time=backward, label="backward 2"),
            Op(key="backward 1", stream=COMPUTE, time=backward, label="backward 1"),
            _reduction("2", reduce),
            _reduction("1", reduce),
            Op(
                key="optimizer",
                stream=COMPUTE,
                time=_OPTIMIZER,
                after=("reduce 1",),
                label="optimizer",
            ),
        )
    )
    return ShortStep(spans=spans, parts=account(spans))


def _reduction(layer: str, time: Seconds) -> Op:
    return Op(
        key=f"reduce {layer}",
        stream=NETWORK,
        time=time,
        after=(f"backward {layer}",),
        label=f"reduce {layer}",
    )
