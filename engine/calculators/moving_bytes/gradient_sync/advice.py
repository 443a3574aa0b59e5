"""What binds the step, what each remedy would give, and a challenge."""

from collections.abc import Mapping
from dataclasses import replace

from engine.basis.inputs import Number
from engine.basis.text import Text, say
from engine.basis.told import Teller
from engine.basis.units import BYTES, COUNT, PARAMETERS, SECONDS, SHARE, TOKENS, Gbit, MiB, Seconds
from engine.basis.views import Advice, Badge, Challenge, Condition, Remedy
from engine.calculators.moving_bytes.gradient_sync.inputs import (
    Inputs,
    job_of,
    missing_of,
)
from engine.calculators.moving_bytes.gradient_sync.result import Result
from engine.catalog.hardware import GPUS
from engine.simulate.gradient_sync import step_of

Change = Mapping[str, float | int | str | bool]
_FIELDS = {name: hint.__metadata__[0] for name, hint in Inputs.__annotations__.items()}


def regime(tell: Teller, inputs: Inputs, result: Result) -> Badge:
    """Return what binds the step: the link, its latency, the buckets' latency or the GPU."""
    if not inputs.overlap:
        return Badge(
            text="Blocking",
            sentence=tell.say("The whole all-reduce waits: {exposed_share} of the step."),
            color="communication",
        )
    if result.backward_time >= result.all_reduce_time:
        return _behind(tell, result)
    wire = result.link if result.num_nodes == 1 else "Link"
    latency = 2 * result.latency_part > result.all_reduce_time
    hidden = " It is hidden from {break_even_tokens} tokens per GPU."
    return Badge(
        text="Latency" if latency else f"{wire} bandwidth",
        sentence=tell.say(
            "The all-reduce outlasts the backward pass; {exposed_share} of the step waits."
            + (hidden if result.num_buckets > 1 else "")
        ),
        color="communication",
    )


def _behind(tell: Teller, result: Result) -> Badge:
    """Return the regime where the backward pass is at least as long as the all-reduce."""
    if result.exposed_time <= 0.01 * result.step_time:
        return Badge(
            text="Compute",
            sentence=tell.say(
                "The all-reduce fits behind the backward pass; {exposed_share} of the step waits."
            ),
            color="compute",
        )
    if result.num_buckets == 1:
        return Badge(
            text="One bucket",
            sentence=tell.say(
                "All gradients fit into one bucket, which starts when the backward pass has ended; "
                "{exposed_share} of the step waits. Smaller buckets would overlap."
            ),
            color="communication",
        )
    many = result.communication > result.backward_time
    return Badge(
        text="Bucket latency" if many else "Last bucket",
        sentence=tell.say(
            "The all-reduce would fit behind the backward pass, but its {num_buckets} buckets each "
            "pay their latencies; {exposed_share} of the step waits."
            if many
            else "Only the last of {num_buckets} buckets is left after the backward pass; "
            "{exposed_share} of the step waits."
        ),
        color="communication",
    )


def advice(tell: Teller, inputs: Inputs, result: Result) -> Advice:
    """Return every remedy within range that fits, with the step time that it gives.

    A job whose states do not fit needs what makes them fit, whatever it does to the step.
    """
    remedies = [
        _remedy(inputs, key, label, change, side)
        for key, label, change, side in _candidates(inputs, result)
        if _in_range(change) and _fits(inputs, change)
    ]
    useful = [
        remedy for remedy in remedies if result.missing or remedy.after < result.step_time * 0.9995
    ]
    useful.sort(key=lambda remedy: remedy.after)
    return Advice(
        title="What would help",
        verdict=_verdict(tell, result, found=bool(useful)),
        figure="step for the same tokens",
        now=result.step_time,
        quantity=SECONDS,
        remedies=tuple(useful[:7]),
        enabling=bool(result.missing),
    )


def _verdict(tell: Teller, result: Result, *, found: bool) -> Text:
    if result.missing:
        way = (
            "Each line is one change after which they fit."
            if found
            else ("No single change here makes them fit: split the model over GPUs.")
        )
        return tell.say("The states need {states}, a GPU has {memory}: this job cannot run. " + way)
    if not found:
        return "Nothing here shortens the step: it never waits."
    return tell.say(
        "{step_time} for these tokens, {exposed_share} of it waiting. Each line gives the time "
        "for the same tokens after one change."
    )


def _fits(inputs: Inputs, change: Change) -> bool:
    return not missing_of(replace(inputs, **change))  # type: ignore[arg-type]


def _remedy(inputs: Inputs, key: str, label: Text, change: Change, side: Text) -> Remedy:
    step = step_of(job_of(replace(inputs, **change)))  # type: ignore[arg-type]
    return Remedy(
        key=key,
        label=label,
        change=change,
        after=_same_tokens(inputs, change, step),
        side_effect=side,
    )


def _same_tokens(inputs: Inputs, change: Change, step: Seconds) -> Seconds:
    """Return the time per step scaled to the tokens of the step as it is now."""
    tokens = float(change.get("tokens_per_gpu", inputs.tokens_per_gpu))
    accumulation = float(change.get("accumulation", inputs.accumulation))
    return step * inputs.tokens_per_gpu * inputs.accumulation / (tokens * accumulation)


def _in_range(change: Change) -> bool:
    return all(
        field.low <= float(value) <= field.high
        for name, value in change.items()
        if isinstance(field := _FIELDS[name], Number)
    )


def _candidates(inputs: Inputs, result: Result) -> list[tuple[str, Text, Change, Text]]:
    tokens, micro = inputs.tokens_per_gpu, inputs.accumulation
    lower = {"fp32": "bf16", "bf16": "fp8"}.get(inputs.dtype)
    found: list[tuple[str, Text, Change, Text]] = [
        (
            "accumulate",
            say("Accumulate {k} micro-batches under no_sync", k=(2 * micro, COUNT)),
            {"accumulation": 2 * micro},
            "doubles the global batch; no more memory",
        ),
        (
            "tokens",
            say("{t} tokens per GPU", t=(2 * tokens, TOKENS)),
            {"tokens_per_gpu": 2 * tokens},
            "doubles the global batch and the activations",
        ),
        (
            "zero1",
            "ZeRO-1, parameters gathered during the next forward",
            {"sharding": "zero1"},
            "the same bytes, in two halves; also shards the optimizer state",
        ),
        (
            "port",
            "Ports twice as fast",
            {"port": 2 * inputs.port},
            "new network cards and switches",
        ),
        (
            "ports",
            "Twice the ports per node",
            {"ports_per_node": 2 * inputs.ports_per_node},
            "more cards, cables and switch ports",
        ),
        (
            "bucket",
            "Buckets four times as large",
            {"bucket": 4 * inputs.bucket},
            "fewer latencies, a longer tail, more buffer memory",
        ),
        (
            "smaller_bucket",
            "Buckets a quarter as large",
            {"bucket": inputs.bucket / 4},
            "more overlap, more latencies",
        ),
    ]
    if lower:
        side = "the sum loses digits" if lower == "bf16" else "sums need scaling and wider adders"
        found.append(("dtype", f"Reduce in {lower}", {"dtype": lower}, side))
    if not inputs.overlap:
        found.append(("overlap", "Overlap with the backward pass", {"overlap": True}, ""))
    if result.missing:
        found += [
            (key, gpu.name, {"gpu": key}, say("{m} each", m=(gpu.memory, BYTES)))
            for key, gpu in GPUS.items()
        ]
    return found + _other_wires(inputs, result)


def _other_wires(inputs: Inputs, result: Result) -> list[tuple[str, Text, Change, Text]]:
    found: list[tuple[str, Text, Change, Text]] = []
    if result.num_nodes > 1 and inputs.world_size <= 8:
        change = {"gpus_per_node": inputs.world_size}
        found.append(("node", f"All GPUs in one {result.link} node", change, "needs such a node"))
    if (
        result.num_nodes > 1
        and inputs.gpus_per_node > 1
        and result.sync.algorithm != "hierarchical"
    ):
        found.append(("hierarchical", "Hierarchical", {"algorithm": "hierarchical"}, ""))
    if inputs.algorithm in ("ring", "hierarchical"):
        found.append(("auto", "An algorithm for the bucket", {"algorithm": "auto"}, "as NCCL does"))
    if result.sync.algorithm != "in_network":
        side = "needs switches that add; measured gains are smaller"
        found.append(("in_network", "In-network reduction", {"algorithm": "in_network"}, side))
    if result.sync.algorithm == "tree":
        found.append(("ring", "Ring", {"algorithm": "ring"}, ""))
    return found


START: Change = {
    "parameters": 8e9,
    "world_size": 64,
    "gpus_per_node": 8,
    "ports_per_node": 1,
    "tokens_per_gpu": 4096,
}
SOLUTION: Change = {**START, "ports_per_node": 8, "bucket": 256 * MiB}


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
            text="the GPU and its MFU left as they are",
            met=(inputs.gpu, inputs.utilization) == ("h200", 0.5),
        ),
        Condition(
            text=say("less than {e} of the step waits", e=(0.01, SHARE)),
            met=result.exposed_share < 0.01,
        ),
    )
    return Challenge(
        title="Challenge: hide an 8B all-reduce",
        goal="Make less than one percent of the step wait, with nothing but wires and settings.",
        conditions=conditions,
        hints=(
            "A node has eight GPUs but, at the start, one network port.",
            "When the wires are wide enough, count the latencies: every bucket pays all of them.",
        ),
        start=START,
        solution=SOLUTION,
    )
