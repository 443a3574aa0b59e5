"""Collectives by hand: eight operations on small numbers, step by step, and a slow port."""

from math import fsum

from engine.basis.text import Text, say
from engine.basis.units import COUNT, LINK_SPEED, RATIO, SECONDS, SHARE
from engine.basis.views import Badge, Receipt, Value, View
from engine.calculators.moving_bytes.collectives_by_hand.views import meter, proof, sums
from engine.form.hand_model import Hand, model, nearest, scene
from engine.form.hand_model import Inputs as Inputs
from engine.simulate.collective import OPERATIONS
from engine.simulate.topology import describe
from engine.simulate.trace import port_bytes

TITLE = "Collectives by hand"
QUESTION = "How can every GPU get the sum without one of them doing all the work?"
PRESETS = {
    "A star": {"algorithm": "star"},
    "Half of it: reduce-scatter": {"operation": "reduce_scatter"},
    "The other half: all-gather": {"operation": "all_gather"},
    "One port at a quarter": {"slow_share": 0.25},
    "All-to-all on four": {"operation": "all_to_all", "algorithm": "direct", "world_size": 4},
}


def compute(inputs: Inputs) -> dict[str, View]:
    """Return the scene, what its run counted and proved, and its time on wires."""
    hand = model(inputs)
    return {
        "scene": scene(hand),
        "proof": proof(inputs, hand),
        **_counts(inputs, hand),
        "time": _time(inputs, hand),
        "even_time": _even(hand),
        "binding": _binding(inputs, hand),
        "meter": meter(inputs, hand),
        "sums": sums(inputs, hand),
    }


def _counts(inputs: Inputs, hand: Hand) -> dict[str, View]:
    sent = [out for out, _ in port_bytes(hand.trace, -1, 1.0)]
    counted = Receipt(
        basis="simulated",
        assumptions=(
            "Counted in the run that the scene shows; the tests hold it against the closed form.",
        ),
        sources=("patarasuk2009", "thakur2005", "sanders2009"),
    )
    return {
        "rounds": Value(
            label="Rounds",
            value=float(len(hand.trace.frames) - 1),
            quantity=COUNT,
            receipt=counted,
            note=nearest(inputs, hand) or "each waits for the one before",
        ),
        "busiest_port": Value(
            label="Busiest port sends",
            value=max(sent),
            quantity=RATIO,
            receipt=counted,
            note="the buffer",
            color="communication",
        ),
        "all_ports": Value(
            label="All ports together send",
            value=fsum(sent),
            quantity=RATIO,
            receipt=counted,
            note=say("the buffer, from {n} GPUs", n=(inputs.world_size, COUNT)),
        ),
    }


def _wires(inputs: Inputs) -> tuple[Text, ...]:
    return (
        say(
            "One port of {b} per GPU, all on one switch that never blocks.",
            b=(inputs.port, LINK_SPEED),
        ),
        "Messages of a round start together and share ports max-min fairly; a round starts when "
        "the one before has ended.",
    )


def _time(inputs: Inputs, hand: Hand) -> Value:
    return Value(
        label=f"This {OPERATIONS[inputs.operation]}",
        value=hand.timed.time,
        quantity=SECONDS,
        receipt=Receipt(
            basis="simulated", assumptions=_wires(inputs), sources=("bertsekas1992", "hockney1994")
        ),
        note=say("{a} of it latency", a=(hand.timed.latency, SECONDS)),
        color="communication",
    )


def _even(hand: Hand) -> Value:
    return Value(
        label="With equal ports",
        value=hand.even.time,
        quantity=SECONDS,
        receipt=Receipt(
            basis="simulated",
            assumptions=("The same run with no slow port.",),
            sources=("bertsekas1992", "hockney1994"),
        ),
        note=say("{r} as long with the slow one", r=(hand.timed.time / hand.even.time, RATIO)),
    )


def _binding(inputs: Inputs, hand: Hand) -> Badge:
    """Return what the run waits for: latency, one port, or ports that are all alike."""
    timed = hand.timed
    if timed.latency > timed.time / 2:
        return Badge(
            text="Latency",
            sentence=say(
                "More than half of the time are latencies: {n} rounds, each waiting for a message.",
                n=(len(hand.trace.frames) - 1, COUNT),
            ),
        )
    slow = ("port_out", hand.slow_gpu, 0)
    if slow in timed.binding and inputs.slow_share < 1:
        return Badge(
            text=f"Port of GPU {hand.slow_gpu}",
            sentence=say(
                "Everybody waits for one port at {s} of its speed: {r} as long as with equal "
                "ports.",
                s=(inputs.slow_share, SHARE),
                r=(timed.time / hand.even.time, RATIO),
            ),
            color="communication",
        )
    loads = [load for link, load in timed.loads.items() if link[0] in ("port_out", "port_in")]
    if max(loads) <= min(loads) * (1 + 1e-9) or len(timed.binding) == 0:
        return Badge(
            text="All ports alike",
            sentence="Every port carries the same, in every round. No one waits for another.",
            color="data",
        )
    first = timed.binding[0]
    return Badge(
        text=f"Port of GPU {first[1]}",
        sentence=f"The last message waits for the {describe(first)}; other ports have less to do.",
        color="communication",
    )
