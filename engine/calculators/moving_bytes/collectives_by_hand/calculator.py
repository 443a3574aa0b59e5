"""Collectives by hand: eight operations on small numbers, step by step, and a slow port."""

from dataclasses import replace
from functools import lru_cache, partial

from engine.calculators.moving_bytes.collectives_by_hand.inputs import Inputs as Inputs
from engine.calculators.moving_bytes.collectives_by_hand.result import Result
from engine.calculators.moving_bytes.collectives_by_hand.result import solve as solve
from engine.calculators.moving_bytes.collectives_by_hand.views import meter, proof, sums
from engine.core.outputs import Teller, Views
from engine.core.slices import Running, Slices
from engine.core.views import Badge, Scene
from engine.draw.collective import collective_drawing
from engine.form.collective_names import label
from engine.simulate.collectives.collective_execution import OPERATIONS
from engine.simulate.collectives.collective_trace import Trace
from engine.simulate.collectives.collective_walkthrough import Hand

TITLE = "Collectives by hand"
QUESTION = "How can every GPU get the sum without one of them doing all the work?"
PRESETS = {
    "A star": {"algorithm": "star"},
    "Half of it: reduce-scatter": {"operation": "reduce_scatter"},
    "The other half: all-gather": {"operation": "all_gather"},
    "One port at a quarter": {"slow_share": 0.25},
    "All-to-all on four": {"operation": "all_to_all", "algorithm": "direct", "world_size": 4},
}


def views(inputs: Inputs, result: Result) -> Views:
    """Return the scene, what its run counted and proved, and its time on wires."""
    tell, hand = Teller(inputs, result), result.hand
    note = _nearest(inputs, hand) or "each waits for the one before"
    return {
        "scene": partial(_scene, hand),
        "proof": proof(tell, inputs, all(result.equal)),
        "rounds": tell.value("rounds", note=note, value=float(result.rounds)),
        **tell.values("busiest_port", "all_ports"),
        "time": tell.value("time", label=f"This {OPERATIONS[inputs.operation]}"),
        **tell.values("even_time"),
        "binding": _binding(tell, inputs, result),
        "meter": partial(meter, tell, result.ports),
        "sums": partial(sums, inputs, result),
    }


def _scene(hand: Hand) -> Slices[Scene]:
    drawn = yield from _drawing(hand.trace, hasattr(hand.module, "ROOT")).rest()
    return drawn


@lru_cache(maxsize=4)
def _drawing(trace: Trace, star: bool) -> Running[Scene]:
    return Running(_titled(collective_drawing(trace, star=star)))


def _titled(drawing: Slices[Scene]) -> Slices[Scene]:
    drawn = yield from drawing
    # A page sets the title of a figure once; what the reader chose belongs into the caption.
    return replace(drawn, title="Round by round", caption=f"{drawn.title}. {drawn.caption}")


def _nearest(inputs: Inputs, hand: Hand) -> str:
    """Return a sentence if another algorithm is shown than the one chosen, else an empty text."""
    if hand.algorithm == inputs.algorithm:
        return ""
    operation, shown = OPERATIONS[inputs.operation], label(hand.algorithm).lower()
    return f'There is no such {operation} here; shown is the algorithm "{shown}".'


def _binding(tell: Teller, inputs: Inputs, result: Result) -> Badge:
    """Return what the run waits for: latency, one port, or ports that are all alike."""
    timed, hand = result.hand.timed, result.hand
    if timed.latency > timed.time / 2:
        sentence = tell.say(
            "More than half of the time is latency: {rounds} rounds, each waiting for a message."
        )
        return Badge(text="Latency", sentence=sentence)
    if hand.slow_port in timed.binding and inputs.slow_share < 1:
        sentence = tell.say(
            "Everybody waits for one port at {slow_share} of its speed: {slower} as long as with "
            "equal ports."
        )
        return Badge(text=f"Port of GPU {hand.slow_gpu}", sentence=sentence, color="communication")
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
        sentence=f"The last message waits for the {result.waits_for}; other ports have less to do.",
        color="communication",
    )
