"""Gradient sync lab: how long the all-reduce of a data-parallel step takes, and if it matters."""

from collections.abc import Mapping
from functools import partial

from engine.calculators.moving_bytes.gradient_sync.charts import (
    algorithms,
    efficiency_curve,
    parts,
    required_curve,
    timeline,
)
from engine.calculators.moving_bytes.gradient_sync.charts import solve as solve
from engine.calculators.moving_bytes.gradient_sync.result import Change, Inputs, Result, TriedChange
from engine.calculators.moving_bytes.gradient_sync.values import (
    BYTES_EQUATION,
    TIME_EQUATION,
    all_reduce_values,
    formula,
    headline,
    step_values,
    table,
    traffic,
)
from engine.catalog.hardware import GPUS
from engine.core.outputs import Presenter, Views
from engine.core.text import Text, say
from engine.core.units import BYTES, COUNT, PARAMETERS, SECONDS, SHARE, TOKENS, Gbit, MiB
from engine.core.views import Advice, Badge, Challenge, Condition, Remedy
from engine.formulas import bandwidth, overlap

TITLE = "Gradient sync lab"
QUESTION = "How long does the all-reduce of the gradients take, and does it matter?"
HEADLINE = "step_time"
FORMERLY = {"scale_up": "", "utilization": ""}
PRESETS = {
    "A published calculator's inputs": {
        "published": True,
        "world_size": 8,
        "gpus_per_node": 1,
        "ports_per_node": 1,
    },
    "The same 8 GPUs in one NVLink node": {"world_size": 8},
    "Llama 3 8B on 128 nodes of 8": {
        "parameters": 8.03e9,
        "world_size": 1024,
    },
    "14B with ZeRO-1 on 64 nodes of 8": {
        "parameters": 14e9,
        "sharding": "zero1",
        "world_size": 512,
        "tokens_per_gpu": 8192,
        "bucket": 256 * 2.0**20,
    },
}
EQUATIONS = (
    *TIME_EQUATION.values(),
    *BYTES_EQUATION.values(),
    overlap.GRADIENT_SIZE,
    bandwidth.ALGORITHM_BANDWIDTH,
    bandwidth.BUS_BANDWIDTH,
    overlap.COMPUTE_TIME,
    overlap.EXPOSED_TIME,
    overlap.STEP_TIME,
    overlap.COMMUNICATION_SHARE,
    overlap.EFFICIENCY,
    overlap.REQUIRED_BANDWIDTH,
)


def views(inputs: Inputs, result: Result) -> Views:
    """Return the views of the lab, in the order of the page."""
    present = Presenter(result, inputs, equations=EQUATIONS)
    return {
        "all_reduce_time": partial(headline, present, inputs, result),
        "regime": partial(regime, present, inputs, result),
        "efficiency_curve": partial(efficiency_curve, present, result),
        "timeline": partial(timeline, present, inputs, result),
        **step_values(present, inputs, result),
        "advice": partial(advice, present, result),
        "required_curve": partial(required_curve, present, result),
        "formula": partial(formula, present, inputs, result),
        "parts": partial(parts, present, result),
        **all_reduce_values(present, inputs, result),
        "algorithms": partial(algorithms, present, result),
        "traffic": partial(traffic, result),
        "published_digits": partial(table, present, inputs, result),
        "challenge": partial(challenge, inputs, result),
    }


# The limit of the step, the gain of each remedy, and the challenge.


def regime(present: Presenter, inputs: Inputs, result: Result) -> Badge:
    """Return the badge on the limit of the step: link, latency, bucket latency or GPU."""
    if not inputs.overlap:
        return Badge(
            text="Blocking",
            sentence=present.say("The whole all-reduce waits: {exposed_share} of the step."),
            color="communication",
        )
    if result.backward_time >= result.all_reduce_time:
        return _hidden_regime(present, result)
    wire = result.link if result.num_nodes == 1 else "Link"
    latency = 2 * result.latency_part > result.all_reduce_time
    hidden = (
        " In one piece it would be hidden from {break_even_tokens} tokens per GPU; {num_buckets} "
        "buckets need more."
    )
    return Badge(
        text="Latency" if latency else f"{wire} bandwidth",
        sentence=present.say(
            "The all-reduce outlasts the backward pass; {exposed_share} of the step waits."
            + (hidden if result.num_buckets > 1 else "")
        ),
        color="communication",
    )


def _hidden_regime(present: Presenter, result: Result) -> Badge:
    """Return the regime where the backward pass is at least as long as the all-reduce."""
    waited = result.exposed_time - result.contention
    if result.exposed_time <= 0.01 * result.step_time:
        return Badge(
            text="Compute",
            sentence=present.say(
                "The all-reduce fits behind the backward pass; {exposed_share} of the step waits."
            ),
            color="compute",
        )
    if waited <= 0.01 * result.step_time:
        return Badge(
            text="Contention",
            sentence=present.say(
                "The all-reduce fits behind the backward pass, which is {contention} longer for "
                "it; {exposed_share} of the step is lost."
            ),
            color="compute",
        )
    if result.num_buckets == 1:
        return Badge(
            text="One bucket",
            sentence=present.say(
                "All gradients fit into one bucket, which starts when the backward pass has ended; "
                "{exposed_share} of the step waits. Smaller buckets would overlap."
            ),
            color="communication",
        )
    latency_bound = result.communication > result.backward_time
    return Badge(
        text="Bucket latency" if latency_bound else "Last bucket",
        sentence=present.say(
            "The all-reduce would fit behind the backward pass, but its {num_buckets} buckets each "
            "pay their latencies; {exposed_share} of the step waits."
            if latency_bound
            else "Only the last of {num_buckets} buckets is left after the backward pass; "
            "{exposed_share} of the step waits."
        ),
        color="communication",
    )


def advice(present: Presenter, result: Result) -> Advice:
    """Return the single changes that help, with the step time that each gives."""
    remedies = tuple(_remedy(result, change) for change in result.tried())
    return Advice(
        title="What would help",
        verdict=_verdict(present, result, helps=bool(remedies)),
        figure="step for the same tokens",
        now=result.step_time,
        quantity=SECONDS,
        remedies=remedies,
        enabling=bool(result.missing),
    )


def _verdict(present: Presenter, result: Result, *, helps: bool) -> Text:
    if result.missing:
        remedy = (
            "Each line is one change after which they fit."
            if helps
            else ("No single change here makes them fit: split the model over GPUs.")
        )
        return present.say(
            "The states need {states}, of a GPU {memory} may be filled: this job cannot run. "
            + remedy
        )
    if not helps:
        return "Nothing here shortens the step: it hardly waits."
    return present.say(
        "{step_time} for these tokens, {exposed_share} of it waiting. Each line gives the time "
        "for the same tokens after one change."
    )


_WORDS: Mapping[str, tuple[str, str]] = {
    "zero1": (
        "ZeRO-1, parameters gathered during the next forward",
        "the same bytes, in two halves; also shards the optimizer state",
    ),
    "port": ("Ports twice as fast", "new network cards and switches"),
    "ports": ("Twice the ports per node", "more cards, cables and switch ports"),
    "bucket": (
        "Buckets four times as large",
        "fewer latencies, a longer tail, more buffer memory",
    ),
    "smaller_bucket": ("Buckets a quarter as large", "more overlap, more latencies"),
    "overlap": ("Overlap with the backward pass", ""),
    "hierarchical": ("Hierarchical", ""),
    "auto": ("An algorithm for the bucket", "as NCCL does"),
    "in_network": (
        "In-network reduction",
        "needs switches that add; measured gains are smaller",
    ),
    "ring": ("Ring", ""),
}


def _remedy(result: Result, change: TriedChange) -> Remedy:
    label, side = _change_words(result, change.key, change.change)
    return Remedy(
        key=change.key, label=label, change=change.change, after=change.after, side_effect=side
    )


def _change_words(result: Result, key: str, change: Change) -> tuple[Text, Text]:
    """Return the label of a change and its side effect."""
    if key == "accumulate":
        label = "Accumulate {k} micro-batches under no_sync"
        micro_batches = int(change["accumulation"]), COUNT
        return say(label, k=micro_batches), "doubles the global batch; no more memory"
    if key == "tokens":
        tokens = int(change["tokens_per_gpu"]), TOKENS
        return say("{t} tokens per GPU", t=tokens), "doubles the global batch and the activations"
    if key == "dtype":
        lower = change["dtype"]
        side = "the sum loses digits" if lower == "bf16" else "sums need scaling and wider adders"
        return f"Reduce in {lower}", side
    if key == "node":
        return f"All GPUs in one {result.link} node", "needs such a node"
    if key in GPUS:
        return GPUS[key].name, say("{m} each", m=(GPUS[key].memory, BYTES))
    return _WORDS[key]


START: Change = {
    "parameters": 8e9,
    "world_size": 512,
    "gpus_per_node": 8,
    "ports_per_node": 1,
    "tokens_per_gpu": 4096,
    "algorithm": "ring",
}
SOLUTION: Change = {**START, "ports_per_node": 8, "bucket": 256 * MiB}
_WAITS = 0.07


def challenge(inputs: Inputs, result: Result) -> Challenge:
    """Return the challenge: hide an 8B all-reduce without more tokens or faster ports."""
    conditions = (
        Condition(
            text=say(
                "{p} parameters in bf16 on {n} GPUs, eight to a node",
                p=(float(START["parameters"]), PARAMETERS),
                n=(int(START["world_size"]), COUNT),
            ),
            met=(inputs.parameters, inputs.world_size, inputs.gpus_per_node, inputs.dtype)
            == (START["parameters"], START["world_size"], START["gpus_per_node"], "bf16"),
        ),
        Condition(
            text=say("at most {t} tokens per GPU, no accumulation", t=(4096, TOKENS)),
            met=inputs.tokens_per_gpu <= 4096 and inputs.accumulation == 1,
        ),
        Condition(
            text="ports of at most 400 Gb/s, replicated states, no help from a switch",
            met=inputs.port <= 400 * Gbit
            and inputs.sharding == "none"
            and result.sync.algorithm != "in_network",
        ),
        Condition(
            text="the GPU left as it is",
            met=inputs.gpu == "h200",
        ),
        Condition(
            text=say("less than {e} of the step exposed, contention included", e=(_WAITS, SHARE)),
            met=result.exposed_share < _WAITS,
        ),
    )
    return Challenge(
        title="Challenge: hide an 8B all-reduce",
        goal="Leave little more than contention exposed, with nothing but wires and settings.",
        conditions=conditions,
        hints=(
            "A node has eight GPUs but, at the start, one network port.",
            "When the wires are wide enough, count the latencies: every bucket pays all those of a "
            "ring. Who chose the ring?",
        ),
        start=START,
        solution=SOLUTION,
    )
