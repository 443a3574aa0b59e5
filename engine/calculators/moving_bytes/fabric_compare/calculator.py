"""Two networks on one job: step, waiting, price, and the facts of each with their sources."""

from functools import partial

from engine.calculators.moving_bytes.fabric_compare.inputs import ALIKE
from engine.calculators.moving_bytes.fabric_compare.inputs import Inputs as Inputs
from engine.calculators.moving_bytes.fabric_compare.inputs import Result as Result
from engine.calculators.moving_bytes.fabric_compare.inputs import solve as solve
from engine.catalog.transports import TRANSPORTS
from engine.core.outputs import Teller, Views
from engine.core.text import Text, say
from engine.core.units import BANDWIDTH, RATIO, SECONDS
from engine.core.views import Axis, Badge, Bar, Bars, Cite, Segment, Table
from engine.form.adjusted_inputs import told
from engine.form.run.prediction_text import known, ranged
from engine.formulas.fabric import BREAK_EVEN_PRICE, WAITING_STEP
from engine.run.networks import NETWORKS, Network
from engine.simulate.step.step_time import StepTime

TITLE = "Two networks on one job"
QUESTION = "Which network does a job notice?"
EQUATIONS = (WAITING_STEP, BREAK_EVEN_PRICE)
PRESETS = {
    "InfiniBand or EFA v2": {"second": "efa-v2"},
    "400 Gb/s or 50 per GPU": {"second": "efa-v1"},
    "Late messages on B": {"second": "ib-400", "second_wait": 1.8},
    "Llama 3 8B, 64 GPUs, FSDP": {
        "model": "llama-3-8b",
        "world_size": 64,
        "pipeline_parallel": 1,
        "expert_parallel": 1,
        "zero_stage": "3",
        "global_batch_size": 64,
        "sequence_length": 8192,
        "recompute": "none",
        "framework": "fsdp",
    },
    "Llama 3 70B, 256 GPUs, FSDP": {
        "model": "llama-3-70b",
        "world_size": 256,
        "pipeline_parallel": 1,
        "expert_parallel": 1,
        "zero_stage": "3",
        "global_batch_size": 256,
        "sequence_length": 8192,
        "recompute": "full",
        "framework": "fsdp",
    },
}


def views(inputs: Inputs, result: Result) -> Views:
    """Return the views, in the order of the page."""
    tell = Teller(result, inputs, equations=EQUATIONS)
    first, second = result.evidence
    return {
        "slower": tell.value("slower", assumes=(*ALIKE, *known(second))),
        "verdict": told(_verdict(tell, inputs, result), result.changes),
        "steps": partial(_steps, inputs, result),
        "first_step": ranged(tell, "first_step", first, assumes=ALIKE),
        "second_step": ranged(tell, "second_step", second, assumes=ALIKE),
        "break_even": tell.value("break_even"),
        "side_by_side": partial(_side_by_side, inputs, result),
        "facts": facts,
    }


def _verdict(tell: Teller, inputs: Inputs, result: Result) -> Badge:
    if not result.fits:
        return Badge(
            text="Does not fit",
            sentence="The plan needs more memory than the GPUs have, so that its times mean "
            "nothing. Split it further, or recompute more.",
            color="ink",
        )
    if abs(result.slower - 1) < 0.01:
        return Badge(
            text="No difference to speak of",
            sentence="The steps differ by less than one percent. Compare prices, tails and what "
            "you can operate.",
            color="muted",
        )
    name = "B" if result.slower < 1 else "A"
    return Badge(
        text=f"{name} is faster",
        sentence=tell.say("A step takes {first_step} on A and {second_step} on B."),
        color="pipeline" if name == "A" else "data",
    )


def _parts(step: StepTime, wait: float) -> tuple[Segment, ...]:
    late = (wait - 1) * step.exposed
    other = step.total - step.compute - step.exposed
    parts = (
        ("compute", "computation", step.compute, "compute"),
        ("other", "bubble, optimizer and other", other, "muted"),
        ("sent", "waits for messages", step.exposed, "communication"),
        ("late", "waits for late messages", late, "ink"),
    )
    return tuple(
        Segment(key=key, label=label, value=time, color=color) for key, label, time, color in parts
    )


def _steps(inputs: Inputs, result: Result) -> Bars:
    names = (f"A: {NETWORKS[inputs.first].name}", f"B: {NETWORKS[inputs.second].name}")
    waits = (inputs.first_wait, inputs.second_wait)
    return Bars(
        title="One step on both networks",
        axis=Axis(
            label="time",
            quantity=SECONDS,
            low=0.0,
            high=1.05 * max(result.first_step, result.second_step),
        ),
        bars=tuple(
            Bar(key=key, label=name, segments=_parts(step, wait))
            for key, name, step, wait in zip("ab", names, result.steps, waits, strict=True)
        ),
    )


def _side_by_side(inputs: Inputs, result: Result) -> Table:
    pair = NETWORKS[inputs.first], NETWORKS[inputs.second]
    rows: list[tuple[Text, ...]] = [
        ("Ports of a GPU, line rate, one way", *(_rate(one) for one in pair)),
        (
            "Share that large messages reach, over that of InfiniBand",
            *(say("{r}", r=(TRANSPORTS[one.transport].share, RATIO)) for one in pair),
        ),
        (
            "A hop of a large message",
            *(say("{t}", t=(TRANSPORTS[one.transport].step, SECONDS)) for one in pair),
        ),
        (
            "A hop of a small message",
            *(say("{t}", t=(_small(one), SECONDS)) for one in pair),
        ),
        ("Packets arrive", *(one.order for one in pair)),
        ("Packets of a message take", *(one.paths for one in pair)),
        ("A queue grows", *(one.full for one in pair)),
        ("Switches add", *(one.sums for one in pair)),
    ]
    return Table(
        title="What the two networks are",
        columns=("", "A", "B"),
        rows=tuple(rows),
        caption="Latencies include the software: NCCL, and its plug-in for EFA.",
    )


def _rate(one: Network) -> Text:
    rate = one.node.nics_per_node * one.node.nic_bandwidth / one.node.gpus_per_node
    return say("{r}", r=(rate, BANDWIDTH))


def _small(one: Network) -> float:
    found = TRANSPORTS[one.transport]
    return found.step_small or found.step_eager


def facts() -> Table:
    """Return all networks with their sources."""
    return Table(
        title="Networks of nodes with eight GPUs",
        columns=("Network", "Per GPU", "Hop, large", "Hop, small", "Packets", "Queues", "Source"),
        rows=tuple(
            (
                one.name,
                _rate(one),
                say("{t}", t=(TRANSPORTS[one.transport].step, SECONDS)),
                say("{t}", t=(_small(one), SECONDS)),
                f"{one.order}; paths: {one.paths}",
                one.full,
                Cite((one.node.source, *one.sources)),
            )
            for one in NETWORKS.values()
        ),
        caption="Hops: of InfiniBand and EFA v1 fitted to measured collectives, of RoCE taken from "
        "InfiniBand, of later EFA from Amazon's announcements and one public test.",
    )
