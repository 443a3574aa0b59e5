"""Results of the bucket lab."""

from dataclasses import dataclass, replace
from functools import partial
from typing import Annotated

from engine.calculators.data_parallelism.bucket_lab.inputs import (
    Inputs,
    memory_of,
    setting_of,
)
from engine.core.lazy import Lazy
from engine.core.outputs import Output
from engine.core.units import Bytes, Count, MiB, Parameters, Seconds, Share
from engine.formulas.bucket_tail import published_overlap
from engine.formulas.overlap import hidden_share
from engine.formulas.parameters import total_parameters
from engine.formulas.states import MIXED_PRECISION, sharded_states
from engine.simulate.data_parallel.bucketed_step import (
    BucketedJob,
    BucketedStep,
    bucketed_run,
    simulate_bucketed_step,
)
from engine.simulate.memory.allocator import usable_bytes
from engine.simulate.step.prediction_evidence import Evidence, evidence

_ASSUMES = (
    "Two streams, simulated tensor by tensor; a bucket waits for its last gradient and for the "
    "bucket before it.",
    "Passes, optimizer, host and the slowest GPU as in the estimate; all-reduces as NCCL runs "
    "them, with its latencies.",
    "Packed as PyTorch 2.13 does from the second step on: the tensor that reaches the limit closes "
    "the bucket, and no tensor is split.",
)
SIZES = (1, 3, 7, 15, 25, 50, 90, 160, 280, 500)  # MiB
_BUCKETS = ("li2020", "pytorch_ddp")


def _output(label: str, note: str, color: str = "ink", *more: str) -> Output:
    return Output(
        label,
        note=note,
        color=color,
        assumes=(*more, *_ASSUMES),
        sources=_BUCKETS,
        basis="simulated",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The results of the step; `setting` is the job and `ran` its simulation."""

    setting: BucketedJob
    ran: BucketedStep
    step_time: Annotated[
        Seconds,
        _output("Step", "forward, backward, what is exposed, optimizer, host"),
    ]
    estimate: Annotated[
        Seconds,
        Output(
            "Estimate of this job",
            note="buckets at PyTorch's limits",
            assumes=(
                "The step of the same job by the estimate: equal buckets of 25 MiB and more, full "
                "at equal intervals of the backward pass.",
            ),
            sources=_BUCKETS,
        ),
    ]
    output_first: Annotated[
        Seconds,
        _output(
            "For the output layer",
            "later than by the estimate, which leaves it out",
            "ink",
            "The products of the output layer come first in the backward pass and fill one bucket; "
            "none where its table is also the embedding's.",
        ),
    ]
    optimizer: Annotated[Seconds, _output("Optimizer", "behind the last sum", "optimizer")]
    other: Annotated[
        Seconds, _output("Host and slowest GPU", "reading the batch, logging, waiting")
    ]
    exposed: Annotated[
        Seconds,
        _output("Exposed communication", "of {isolated} in all buckets, alone", "communication"),
    ]
    hidden: Annotated[
        Share,
        _output(
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
        _output(
            "Contention",
            "what hiding costs the computation",
            "compute",
            "At 0: of the bytes that move, as the step model was fitted. Otherwise computation "
            "takes {slow_down} longer while an all-reduce runs.",
        ),
    ]
    num_buckets: Annotated[
        Count,
        _output("Buckets", "all-reduces in a step", "communication"),
    ]
    isolated: Annotated[
        Seconds,
        _output("All buckets alone", "one after the other, nothing beside", "communication"),
    ]
    backward: Seconds
    first_layer: Annotated[
        Count,
        Output(
            "Complete first",
            "",
            "of {layers} layers",
            "gradients",
            assumes=("The backward pass goes through the layers in the opposite order.",),
            sources=("li2020",),
            basis="definition",
        ),
    ]
    layers: Annotated[Count, Output("Layers", basis="definition", sources=("llama32_card",))]
    last_size: Annotated[
        Bytes,
        _output("Last bucket", "{last_share} of the gradient", "communication"),
    ]
    last_share: Annotated[Share, _output("Share of the last bucket", "of the gradient")]
    bucket_parameters: Annotated[
        Parameters,
        Output(
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
        Output(
            "If tensors could be split",
            "",
            "buckets of {bucket}",
            assumes=("All gradients over the limit of a bucket, rounded up.",),
            basis="definition",
        ),
    ]
    states: Annotated[
        Bytes,
        Output(
            "States on each GPU",
            "",
            "16 bytes per parameter",
            "optimizer",
            assumes=("Mixed precision with Adam; activations come on top.",),
            sources=("rajbhandari2020",),
        ),
    ]
    room: Bytes
    curve: Lazy[tuple[BucketedStep, ...]]
    evidence: Evidence


def solve(inputs: Inputs) -> Result:
    """Return every number of the page."""
    setting = setting_of(inputs)
    ran = simulate_bucketed_step(setting)
    parameters = total_parameters(setting.model)
    last = ran.buckets[-1].parameters
    element = setting.element
    return Result(
        setting=setting,
        ran=ran,
        step_time=ran.account.length,
        estimate=ran.estimate.total,
        output_first=ran.output_first,
        optimizer=ran.estimate.optimizer,
        other=ran.estimate.other,
        exposed=ran.account.exposed,
        hidden=hidden_share(ran.account.communication, ran.account.exposed),
        published_overlap=published_overlap(ran.isolated, ran.backward),
        contention=ran.contention,
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
        room=usable_bytes(memory_of(inputs)),
        evidence=evidence(bucketed_run(setting)),
        curve=Lazy(partial(_curve, inputs, setting)),
    )


def _curve(inputs: Inputs, setting: BucketedJob) -> tuple[BucketedStep, ...]:
    """Return the step with a bucket of each of `SIZES`."""
    caps = [size * MiB for size in SIZES]
    jobs = (replace(setting, cap=cap, first=min(inputs.first, cap)) for cap in caps)
    return tuple(simulate_bucketed_step(job) for job in jobs)
