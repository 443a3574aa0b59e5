"""What the bucket lab shows: every number of the step."""

from dataclasses import dataclass, replace
from functools import partial
from typing import Annotated

from engine.calculators.data_parallelism.bucket_lab.inputs import (
    ELEMENT,
    Inputs,
    memory_of,
    setting_of,
)
from engine.core.lazy import Later
from engine.core.outputs import Told
from engine.core.units import Bytes, Count, MiB, Parameters, Seconds, Share
from engine.form.missing_range import UNRANGED
from engine.formulas.bucket_tail import published_overlap
from engine.formulas.overlap import hidden_share
from engine.formulas.parameters import total_parameters
from engine.formulas.states import MIXED_PRECISION, sharded_states
from engine.run.parallelism import Training
from engine.simulate.data_parallel.bucketed_step import Bucketed, Setting, bucketed
from engine.simulate.memory.allocator import usable
from engine.simulate.streams.stream_account import Account

_SIMULATED = (
    "Two streams, simulated tensor by tensor; a bucket waits for its last gradient and for the "
    "bucket before it.",
    "All-reduces as NCCL runs them: ring or tree, with its latencies.",
    "Packed as PyTorch 2.13 does from the second step on: the tensor that reaches the limit closes "
    "the bucket, and no tensor is split.",
)
SIZES = (1, 3, 7, 15, 25, 50, 90, 160, 280, 500)  # MiB
_BUCKETS = ("li2020", "pytorch_ddp")


def _told(label: str, note: str, color: str = "ink", *more: str) -> Told:
    return Told(
        label,
        note=note,
        color=color,
        assumes=(*more, *_SIMULATED),
        sources=_BUCKETS,
        basis="simulated",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The step; `setting` and `ran` are what it was made from and what happened."""

    setting: Setting
    ran: Bucketed
    step_time: Annotated[
        Seconds,
        _told("Step", "forward, backward, what is exposed, optimizer", "ink", UNRANGED),
    ]
    exposed: Annotated[
        Seconds,
        _told("Exposed communication", "of {isolated} in all buckets, alone", "communication"),
    ]
    hidden: Annotated[
        Share,
        _told(
            "Hidden share",
            "overlap as Holistic Trace Analysis counts it",
            "compute",
            "Time in which the GPU communicates and computes, over the time in which it "
            "communicates.",
        ),
    ]
    published_overlap: Share
    contention: Annotated[
        Seconds,
        _told(
            "Contention",
            "what hiding costs the computation",
            "compute",
            "While an all-reduce runs, computation takes {slow_down} longer.",
        ),
    ]
    num_buckets: Annotated[
        Count,
        _told("Buckets", "all-reduces in a step", "communication"),
    ]
    isolated: Annotated[
        Seconds, _told("All buckets alone", "one after the other, nothing beside", "communication")
    ]
    backward: Seconds
    first_layer: Annotated[
        Count,
        Told(
            "Complete first",
            "",
            "of {layers} layers",
            "gradients",
            assumes=("The backward pass goes through the layers in the opposite order.",),
            sources=("li2020",),
            basis="definition",
        ),
    ]
    layers: Annotated[Count, Told("Layers", basis="definition", sources=("llama32_card",))]
    last_size: Annotated[
        Bytes,
        _told("Last bucket", "{last_share} of the gradient", "communication"),
    ]
    last_share: Annotated[Share, _told("Share of the last bucket", "of the gradient")]
    bucket_parameters: Annotated[
        Parameters,
        Told(
            "Gradients that fill a bucket",
            "",
            "{bucket} over {element}",
            assumes=("The limit of a bucket over the bytes of one gradient.",),
            basis="definition",
        ),
    ]
    element: Bytes
    even_buckets: Annotated[
        Count,
        Told(
            "If tensors could be split",
            "",
            "buckets of {bucket}",
            assumes=("All gradients over the limit of a bucket, rounded up.",),
            basis="definition",
        ),
    ]
    states: Annotated[
        Bytes,
        Told(
            "States on each GPU",
            "",
            "16 bytes per parameter",
            "optimizer",
            assumes=("Mixed precision with Adam; activations come on top.",),
            sources=("rajbhandari2020",),
        ),
    ]
    room: Bytes
    curve: Later[tuple[Account, ...]]


def solve(inputs: Inputs) -> Result:
    """Return every number of the page."""
    setting = setting_of(inputs)
    ran = bucketed(setting)
    parameters = total_parameters(setting.model)
    last = ran.buckets[-1].parameters
    element = ELEMENT[inputs.dtype]
    training = Training(micro_batch_size=1, global_batch_size=1, sequence_length=inputs.tokens)
    return Result(
        setting=setting,
        ran=ran,
        step_time=ran.seen.length,
        exposed=ran.seen.exposed,
        hidden=hidden_share(ran.seen.communication, ran.seen.exposed),
        published_overlap=published_overlap(ran.isolated, ran.backward),
        contention=ran.seen.contention,
        num_buckets=len(ran.buckets),
        isolated=ran.isolated,
        backward=ran.backward,
        first_layer=setting.model.num_layers,
        layers=setting.model.num_layers,
        last_size=last * element,
        last_share=last / parameters,
        bucket_parameters=inputs.bucket / element,
        element=element,
        even_buckets=-int(-parameters * element // inputs.bucket),
        states=sharded_states(parameters, MIXED_PRECISION, 0, 1).total,
        room=usable(memory_of(inputs), training),
        curve=Later(partial(_curve, inputs, setting)),
    )


def _curve(inputs: Inputs, setting: Setting) -> tuple[Account, ...]:
    """Return the step with a bucket of each of `SIZES`."""
    caps = [size * MiB for size in SIZES]
    jobs = (replace(setting, cap=cap, first=min(inputs.first, cap)) for cap in caps)
    return tuple(bucketed(job).seen for job in jobs)
