"""Token race: a prompt and its tokens on several GPUs, by gathered weights and tensor parallel."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Annotated

from engine.catalog.accelerators import ACCELERATORS
from engine.catalog.models import MODELS
from engine.catalog.nodes import NODES
from engine.core.inputs import Choice, Number, Scalar
from engine.core.lazy import Lazy
from engine.core.numbers import format_value
from engine.core.outputs import Output, Presenter, Views
from engine.core.text import Text, say
from engine.core.units import (
    BYTES,
    COUNT,
    RATIO,
    SECONDS,
    TOKEN_RATE,
    Bytes,
    Count,
    Ratio,
    Seconds,
    TokenRate,
)
from engine.core.views import (
    Axis,
    Badge,
    Bar,
    Bars,
    Challenge,
    Condition,
    Frame,
    Line,
    Lines,
    Rule,
    Scale,
    Scene,
    Segment,
    Shape,
)
from engine.draw.shapes import rect, text
from engine.form.fields import OwnConstants
from engine.run.machines import cluster_of
from engine.run.parallelism import Training
from engine.simulate.job.generation import (
    Generation,
    ServingJob,
    generate,
    generation_token_rate,
    memory_per_gpu,
)
from engine.simulate.layer.device_model import rank_rates
from engine.simulate.memory.allocator import usable_bytes

_WIDTH, _LANE, _PROMPT, _GAP, _HIGH = 372.0, 96.0, 92.0, 3.0, 30.0
_FONT = 14.0
_NAMES = (("zero", "ZeRO-3: weights travel"), ("tensor", "TP: activations travel"))
_COLORS = {"zero": "parameters", "tensor": "activations"}


def race_scene(lanes: dict[str, Generation], prompt: Count) -> Scene:
    """Return a scene: frames at each pass end of the faster lane, and at the slower's end."""
    fastest = min(lanes.values(), key=lambda lane: lane.ends[-1])
    times = [0.0, *fastest.ends]
    last = max(lane.ends[-1] for lane in lanes.values())
    if last > times[-1]:
        times.append(last)
    frames = tuple(
        Frame(caption=_caption(lanes, time), shapes=tuple(_shapes(lanes, time, prompt)))
        for time in times
    )
    return Scene(
        title="A prompt and its tokens",
        width=_WIDTH,
        height=24 + len(_NAMES) * _LANE,
        frames=frames,
        opening=1,
        caption="The wide box is the prompt, a narrow one a new token. All sequences of the batch "
        "move together. Each step of the player is one pass of the faster lane.",
    )


def _caption(lanes: dict[str, Generation], time: Seconds) -> Text:
    zero, tensor = lanes["zero"], lanes["tensor"]
    return say(
        "After {t}. New tokens with ZeRO-3: {z}, sent by each GPU: {zb}. New tokens with tensor "
        "parallelism: {n}, sent by each GPU: {nb}.",
        t=(time, SECONDS),
        z=(_tokens_done(zero, time), COUNT),
        zb=(zero.bytes_sent(time), BYTES),
        n=(_tokens_done(tensor, time), COUNT),
        nb=(tensor.bytes_sent(time), BYTES),
    )


def _tokens_done(lane: Generation, time: Seconds) -> Count:
    """Return the number of new tokens at a time; the prompt's pass yields the first."""
    return int(lane.passes_done(time) + 1e-9)


def _shapes(lanes: dict[str, Generation], time: Seconds, prompt: Count) -> Iterable[Shape]:
    yield text("clock", 0, 16, _FONT, format_value(time, SECONDS), "start", "value c-ink")
    for index, (key, name) in enumerate(_NAMES):
        lane, top = lanes[key], 40 + index * _LANE
        yield text(f"{key}.name", 0, top, _FONT, name, "start", "value c-ink")
        yield from _token_boxes(key, lane, time, top + 8, prompt)
        tokens = _tokens_done(lane, time)
        counts = f"{tokens} token{'s' if tokens != 1 else ''}, {_size(lane.bytes_sent(time))} sent"
        yield text(f"{key}.count", 0, top + _HIGH + 28, _FONT, counts, "start", "c-muted")


def _size(size: Bytes) -> str:
    return format_value(size, BYTES)


def _token_boxes(
    key: str, lane: Generation, time: Seconds, top: float, prompt: Count
) -> Iterable[Shape]:
    done = lane.passes_done(time)
    wide = (_WIDTH - _PROMPT - len(lane.ends) * _GAP) / max(1, len(lane.ends) - 1)
    widths: Sequence[float] = [_PROMPT, *(wide,) * (len(lane.ends) - 1)]
    left = 0.0
    for index, width in enumerate(widths):
        part = min(1.0, max(0.0, done - index))
        kind = f"cell c-{_COLORS[key]}"
        faint, solid = (("fill-opacity", "0.12"),), (("fill-opacity", "0.5"),)
        yield rect(f"{key}.e{index}", (left, top), (width, _HIGH), kind, faint)
        yield rect(f"{key}.d{index}", (left, top), (width * part, _HIGH), kind, solid)
        left += width + _GAP
    label = f"{prompt:,} tokens"
    yield text(f"{key}.prompt", _PROMPT / 2, top + 20, 12.0, label, "middle", "c-ink")


_MODELS = ("llama-3-8b", "llama-3-70b", "llama-3-405b")
_MACHINES = ("dgx-a100", "dgx-h100", "dgx-h200", "dgx-b200")
NEW: Count = 16
BATCHES = (1, 512)
SHOWN = tuple(1 << power for power in range(10))
_ASSUMES = (
    "Kernels, links and memory reach what was measured of them; embedding and output layer are "
    "left out.",
    "With gathered weights, a layer's weights arrive while the layer before it computes. The "
    "all-reduces of tensor parallelism are waited for.",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """The calculator's inputs."""

    batch: Annotated[
        int,
        Number(
            label="Sequences at a time",
            low=BATCHES[0],
            high=BATCHES[1],
            scale="log2",
            whole=True,
            symbol="b",
        ),
    ] = 8
    prompt: Annotated[
        int,
        Number(label="Prompt", low=1, high=32_768, scale="log2", whole=True, symbol="s"),
    ] = 1024
    ranks: Annotated[
        str, Choice(label="GPUs", options={n: n for n in ("2", "4", "8", "16", "32")})
    ] = "8"
    model: Annotated[
        str, Choice(label="Model", cites=False, options={key: MODELS[key].name for key in _MODELS})
    ] = "llama-3-70b"
    machine: Annotated[
        str, Choice(label="Machine", options={key: NODES[key].name for key in _MACHINES})
    ] = "dgx-h100"
    own_constants: OwnConstants = ""


def _output(label: str, note: str, color: str) -> Output:
    return Output(label, "", note, color, _ASSUMES, ("pope2023",))


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """Tensor parallelism and ZeRO-3; `by_batch` with the batches of `SHOWN`."""

    by_batch: Lazy[tuple["Result", ...]]
    zero: Generation
    tensor: Generation
    usable: Bytes
    tensor_token: Annotated[
        Seconds,
        _output("One new token, tensor parallel", "for all sequences at once", "activations"),
    ]
    reading: Annotated[
        Seconds,
        _output("Of that, reading or computing", "whichever takes longer", "memory"),
    ]
    zero_token: Annotated[
        Seconds,
        _output("One new token, weights gathered", "for all sequences at once", "parameters"),
    ]
    faster: Annotated[
        Ratio,
        _output("Tensor parallel is faster by", "per new token", "activations"),
    ]
    tensor_prompt: Annotated[
        Seconds,
        _output("The prompt, tensor parallel", "until the first new token", "activations"),
    ]
    zero_prompt: Annotated[
        Seconds,
        _output("The prompt, weights gathered", "until the first new token", "parameters"),
    ]
    tensor_rate: Annotated[
        TokenRate,
        _output("New tokens, tensor parallel", "all sequences together", "activations"),
    ]
    zero_rate: Annotated[
        TokenRate,
        _output("New tokens, weights gathered", "all sequences together", "parameters"),
    ]
    tensor_sent: Annotated[
        Bytes,
        _output("Sent per new token, tensor parallel", "by each GPU, all layers", "activations"),
    ]
    zero_sent: Annotated[
        Bytes,
        _output("Sent per new token, weights gathered", "by each GPU, all layers", "parameters"),
    ]
    tensor_held: Annotated[
        Bytes,
        _output("A GPU holds, tensor parallel", "weights and caches; {usable} usable", "memory"),
    ]
    zero_held: Annotated[
        Bytes,
        _output("A GPU holds, weights gathered", "two layers more", "memory"),
    ]


def _training(inputs: Inputs) -> Training:
    return Training(micro_batch_size=1, global_batch_size=1, sequence_length=max(2, inputs.prompt))


def serving_of(inputs: Inputs) -> ServingJob:
    """Return the serving setup: model, precision and cluster."""
    cluster = cluster_of(inputs.machine, inputs.own_constants)
    return ServingJob(
        model=MODELS[inputs.model],
        rank=rank_rates(cluster, _training(inputs)),
        ranks=int(inputs.ranks),
        batch=inputs.batch,
        prompt=inputs.prompt,
        new_tokens=NEW,
    )


def solve(inputs: Inputs) -> Result:
    """Compute generation with tensor parallelism and with ZeRO-3."""
    serving = serving_of(inputs)
    zero, tensor = generate(serving, "zero"), generate(serving, "tensor")
    gpu = ACCELERATORS[NODES[inputs.machine].gpu]
    return Result(
        by_batch=Lazy(partial(_by_batch, inputs)),
        zero=zero,
        tensor=tensor,
        usable=usable_bytes(gpu.memory),
        tensor_token=tensor.passes[1].time,
        reading=tensor.passes[1].computing,
        zero_token=zero.passes[1].time,
        faster=zero.passes[1].time / tensor.passes[1].time,
        tensor_prompt=tensor.ends[0],
        zero_prompt=zero.ends[0],
        tensor_rate=generation_token_rate(serving, "tensor"),
        zero_rate=generation_token_rate(serving, "zero"),
        tensor_sent=tensor.passes[1].sent,
        zero_sent=zero.passes[1].sent,
        tensor_held=memory_per_gpu(serving, "tensor"),
        zero_held=memory_per_gpu(serving, "zero"),
    )


def _by_batch(inputs: Inputs) -> tuple[Result, ...]:
    return tuple(solve(replace(inputs, batch=batch)) for batch in SHOWN)


def parts(result: Result) -> Bars:
    """Return the time breakdown of a prompt and of a new token."""
    bars = []
    for key, name, serving in (
        ("zero", "ZeRO-3", result.zero),
        ("tensor", "tensor parallel", result.tensor),
    ):
        for index, work in ((0, "prompt"), (1, "one new token")):
            done = serving.passes[index]
            waits = done.time - done.computing
            parts = (
                ("compute", "computing, or reading memory", done.computing, "compute"),
                ("waits", "waiting for links", waits, "communication"),
            )
            bars.append(
                Bar(
                    key=f"{key}{index}",
                    label=f"{name}, {work}",
                    segments=tuple(
                        Segment(key=k, label=t, value=v, color=c) for k, t, v, c in parts
                    ),
                )
            )
    most = max(sum(part.value for part in bar.segments) for bar in bars)
    return Bars(
        title="What a pass spends its time on",
        axis=Axis(label="time", quantity=SECONDS, low=0.0, high=1.1 * most),
        bars=tuple(bars),
        caption="All layers, one forward pass.",
    )


def rates(present: Presenter, inputs: Inputs, result: Result) -> Lines:
    """Return the new tokens per second over the batch."""
    batches = result.by_batch()
    tensor = [batch.tensor_rate for batch in batches]
    zero = [batch.zero_rate for batch in batches]
    return present.curve(
        "New tokens per second, over the sequences at a time",
        over=Scale(COUNT, "sequences at a time", BATCHES[0], BATCHES[1], log=True),
        shows=Scale(
            COUNT,
            "new tokens per second",
            min(*tensor, *zero) / 2,
            3 * max(*tensor, *zero),
            log=True,
        ),
        x=SHOWN,
        lines=(
            Line("tensor", "tensor parallel", tensor, "activations"),
            Line("zero", "ZeRO-3", zero, "parameters"),
        ),
        handle="batch",
        at=result.tensor_rate,
        now=say("{r}", r=(result.tensor_rate, TOKEN_RATE)),
        caption="Both curves grow with the batch, until reading caches or arithmetic takes over.",
    )


def prompts(present: Presenter, inputs: Inputs, result: Result) -> Lines:
    """Return the chart of the time of gathered weights over tensor parallelism, by batch."""
    batches = result.by_batch()
    ratio = tuple(batch.zero_prompt / batch.tensor_prompt for batch in batches)
    token = tuple(batch.faster for batch in batches)
    return present.curve(
        "Time of gathered weights over tensor parallel",
        over=Scale(COUNT, "sequences at a time", BATCHES[0], BATCHES[1], log=True),
        shows=Scale(
            RATIO, "ZeRO-3 over TP", min(*ratio, 1.0) / 2, 3 * max(*token, *ratio), log=True
        ),
        x=SHOWN,
        lines=(
            Line("token", "one new token", token, "communication"),
            Line("prompt", "the prompt", ratio, "compute"),
        ),
        handle="batch",
        at=result.zero_prompt / result.tensor_prompt,
        rules=(Rule(key="one", label="equally fast", axis="y", at=1.0),),
        caption="Below the line gathered weights are faster.",
    )


def _axis() -> Axis:
    low, high = BATCHES
    return Axis(label="sequences at a time", quantity=COUNT, low=low, high=high, scale="log")


TITLE = "A prompt and its tokens, by two ways"
QUESTION = "Which is faster to generate text on several GPUs: ZeRO-3 or tensor parallelism?"
HEADLINE = "faster"
EQUATIONS = ()
PRESETS = {
    "One sequence": {"batch": 1},
    "512 short prompts": {"batch": 512, "prompt": 512},
    "A long prompt": {"batch": 1, "prompt": 32_768},
    "Two nodes": {"ranks": "16"},
}
START: Mapping[str, Scalar] = {
    "model": "llama-3-70b",
    "machine": "dgx-h100",
    "ranks": "8",
    "batch": 8,
    "prompt": 1024,
}
SOLUTION: Mapping[str, Scalar] = {**START, "batch": 64}


def views(inputs: Inputs, result: Result) -> Views:
    """Return the race, the numbers and the curves."""
    present = Presenter(result, inputs, equations=EQUATIONS)
    return {
        "scene": partial(race_scene, {"zero": result.zero, "tensor": result.tensor}, inputs.prompt),
        **present.values("tensor_token", "reading", "zero_token", "faster"),
        "regime": _regime(present, result),
        **present.values("tensor_prompt", "zero_prompt", "tensor_rate", "zero_rate"),
        **present.values("tensor_sent", "zero_sent", "tensor_held", "zero_held"),
        "parts": partial(parts, result),
        "rates": partial(rates, present, inputs, result),
        "prompts": partial(prompts, present, inputs, result),
        "challenge": partial(_challenge, inputs, result),
    }


def _regime(present: Presenter, result: Result) -> Badge:
    if result.zero_held > result.usable:
        return Badge(
            text="Does not fit",
            sentence=present.say(
                "With gathered weights a GPU would need {zero_held}, with tensor parallelism "
                "{tensor_held}; it has {usable}."
            ),
            color="bad",
        )
    if result.zero_prompt < result.tensor_prompt:
        return Badge(
            text="The prompt: gathered weights. The tokens: tensor parallel",
            sentence=present.say(
                "The prompt takes {zero_prompt} against {tensor_prompt}, a new token {zero_token} "
                "against {tensor_token}."
            ),
            color="parameters",
        )
    return Badge(
        text="Tensor parallel for both",
        sentence=present.say(
            "The prompt takes {tensor_prompt} against {zero_prompt}, a new token {tensor_token} "
            "against {zero_token}."
        ),
        color="activations",
    )


def _challenge(inputs: Inputs, result: Result) -> Challenge:
    same = all(getattr(inputs, key) == START[key] for key in ("model", "machine", "prompt"))
    return Challenge(
        title="Challenge: where gathering weights wins",
        goal="Llama 3 70B on DGX H100, prompts of 1,024 tokens: find a batch for which the prompt "
        "is faster with gathered weights by a quarter, and which fits.",
        conditions=(
            Condition(text="Llama 3 70B on DGX H100, prompts of 1,024 tokens", met=same),
            Condition(text="on one node of eight GPUs", met=inputs.ranks == "8"),
            Condition(
                text="the prompt takes at most four fifths of the time",
                met=result.zero_prompt <= 0.8 * result.tensor_prompt,
            ),
            Condition(text="a GPU holds weights and caches", met=result.zero_held <= result.usable),
        ),
        hints=(
            "Gathering weights takes as long for one prompt as for many.",
            "Each GPU should have several prompts of its own.",
        ),
        start=START,
        solution=SOLUTION,
    )
