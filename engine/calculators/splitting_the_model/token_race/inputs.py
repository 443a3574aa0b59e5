"""What a reader can change about generating text on several GPUs."""

from dataclasses import dataclass, replace
from functools import partial
from typing import Annotated

from engine.catalog.accelerators import ACCELERATORS
from engine.catalog.models import MODELS
from engine.catalog.nodes import NODES
from engine.core.inputs import Choice, Number
from engine.core.lazy import Later
from engine.core.outputs import Told
from engine.core.units import Bytes, Count, Ratio, Seconds, TokenRate
from engine.form.fields import OwnConstants
from engine.run.machines import cluster_of
from engine.run.parallelism import Training
from engine.simulate.job.generation import Generated, Serving, generated, held, token_rate
from engine.simulate.layer.device_model import rank_of
from engine.simulate.memory.allocator import usable

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
    """What the reader can change."""

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


def _told(label: str, note: str, color: str) -> Told:
    return Told(label, "", note, color, _ASSUMES, ("pope2023",))


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """Both ways; `by_batch` with the batches of `SHOWN`."""

    by_batch: Later[tuple["Result", ...]]
    zero: Generated
    tensor: Generated
    usable: Bytes
    tensor_token: Annotated[
        Seconds,
        _told("One new token, tensor parallel", "for all sequences at once", "activations"),
    ]
    reading: Annotated[
        Seconds,
        _told("Of that, reading or computing", "whichever takes longer", "memory"),
    ]
    zero_token: Annotated[
        Seconds,
        _told("One new token, weights gathered", "for all sequences at once", "parameters"),
    ]
    faster: Annotated[
        Ratio,
        _told("Tensor parallel is faster by", "per new token", "activations"),
    ]
    tensor_prompt: Annotated[
        Seconds,
        _told("The prompt, tensor parallel", "until the first new token", "activations"),
    ]
    zero_prompt: Annotated[
        Seconds,
        _told("The prompt, weights gathered", "until the first new token", "parameters"),
    ]
    tensor_rate: Annotated[
        TokenRate,
        _told("New tokens, tensor parallel", "all sequences together", "activations"),
    ]
    zero_rate: Annotated[
        TokenRate,
        _told("New tokens, weights gathered", "all sequences together", "parameters"),
    ]
    tensor_sent: Annotated[
        Bytes,
        _told("Sent per new token, tensor parallel", "by each GPU, all layers", "activations"),
    ]
    zero_sent: Annotated[
        Bytes,
        _told("Sent per new token, weights gathered", "by each GPU, all layers", "parameters"),
    ]
    tensor_held: Annotated[
        Bytes,
        _told("A GPU holds, tensor parallel", "weights and caches; {usable} usable", "memory"),
    ]
    zero_held: Annotated[
        Bytes,
        _told("A GPU holds, weights gathered", "two layers more", "memory"),
    ]


def _training(inputs: Inputs) -> Training:
    return Training(micro_batch_size=1, global_batch_size=1, sequence_length=max(2, inputs.prompt))


def serving_of(inputs: Inputs) -> Serving:
    """Return what is served on what."""
    cluster = cluster_of(inputs.machine, inputs.own_constants)
    return Serving(
        model=MODELS[inputs.model],
        rank=rank_of(cluster, _training(inputs)),
        ranks=int(inputs.ranks),
        batch=inputs.batch,
        prompt=inputs.prompt,
        new_tokens=NEW,
    )


def solve(inputs: Inputs) -> Result:
    """Run both ways."""
    serving = serving_of(inputs)
    zero, tensor = generated(serving, "zero"), generated(serving, "tensor")
    gpu = ACCELERATORS[NODES[inputs.machine].gpu]
    return Result(
        by_batch=Later(partial(_by_batch, inputs)),
        zero=zero,
        tensor=tensor,
        usable=usable(gpu.memory, _training(inputs)),
        tensor_token=tensor.passes[1].time,
        reading=tensor.passes[1].computing,
        zero_token=zero.passes[1].time,
        faster=zero.passes[1].time / tensor.passes[1].time,
        tensor_prompt=tensor.ends[0],
        zero_prompt=zero.ends[0],
        tensor_rate=token_rate(serving, "tensor"),
        zero_rate=token_rate(serving, "zero"),
        tensor_sent=tensor.passes[1].sent,
        zero_sent=zero.passes[1].sent,
        tensor_held=held(serving, "tensor"),
        zero_held=held(serving, "zero"),
    )


def _by_batch(inputs: Inputs) -> tuple[Result, ...]:
    return tuple(solve(replace(inputs, batch=batch)) for batch in SHOWN)
