"""Results of the bucket lab."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Annotated

from engine.catalog.hardware import GPUS
from engine.catalog.models import MODELS, SMALL_MODELS, Model
from engine.core.inputs import MEBIBYTES, PERCENT, Choice, Number, Switch
from engine.core.lazy import Lazy
from engine.core.outputs import Output
from engine.core.units import Bytes, Count, Gbit, MiB, Parameters, Seconds, Share
from engine.form.fields import PORT, LabGpu, OwnConstants, PortsPerEight
from engine.form.gradient_type import GradientType
from engine.formulas.bucket_tail import published_overlap
from engine.formulas.overlap import hidden_share
from engine.formulas.parameters import total_parameters
from engine.formulas.states import MIXED_PRECISION, sharded_states
from engine.run.software import DDP_BUCKET, DDP_FIRST_BUCKET
from engine.simulate.data_parallel.bucketed_step import (
    BucketedJob,
    BucketedStep,
    bucketed_run,
    simulate_bucketed_step,
)
from engine.simulate.memory.allocator import usable_bytes
from engine.simulate.step.prediction_evidence import Evidence, evidence

# The inputs of the bucket lab.

OFFERED: Mapping[str, Model] = {
    **{key: SMALL_MODELS[key] for key in ("llama-3.2-3b", "llama-3.2-1b")},
    **{key: MODELS[key] for key in ("llama-2-7b", "llama-3-8b")},
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """The calculator's inputs."""

    bucket: Annotated[
        float,
        Number(
            label="Bucket",
            unit=MEBIBYTES,
            low=1 * MiB,
            high=500 * MiB,
            scale="log",
            symbol="b",
            help="bucket_cap_mb of DistributedDataParallel; PyTorch's default is 25 MiB.",
        ),
    ] = DDP_BUCKET
    slow_down: Annotated[
        float,
        Number(
            label="Contention",
            unit=PERCENT,
            low=0.0,
            high=0.5,
            step=0.01,
            symbol="c",
            help="While an all-reduce runs, computation takes this much longer. 0: what the step "
            "model takes for the bytes that move.",
        ),
    ] = 0.0
    tokens: Annotated[
        int,
        Number(
            label="Tokens per GPU",
            low=256,
            high=131_072,
            scale="log2",
            whole=True,
            symbol="t",
        ),
    ] = 8192
    world_size: Annotated[
        int, Number(label="GPUs", low=2, high=1024, scale="log2", whole=True, symbol="n")
    ] = 64
    model: Annotated[
        str,
        Choice(
            label="Model", cites=False, options={key: model.name for key, model in OFFERED.items()}
        ),
    ] = "llama-3.2-3b"
    dtype: GradientType = "fp32"
    order: Annotated[
        str,
        Choice(
            label="Packed in the order",
            options={"ready": "of the backward pass", "registered": "of the model"},
        ),
    ] = "ready"
    overlap: Annotated[
        bool, Switch(label="Overlap", help="Off: all buckets after the backward pass.")
    ] = True
    first: Annotated[
        float,
        Number(
            label="First bucket",
            unit=MEBIBYTES,
            low=0.25 * MiB,
            high=500 * MiB,
            scale="log",
            advanced=True,
            help="1 MiB in PyTorch, as long as bucket_cap_mb is not set.",
        ),
    ] = DDP_FIRST_BUCKET
    port: Annotated[float, replace(PORT, advanced=True)] = 400 * Gbit
    ports: PortsPerEight = 8
    gpu: LabGpu = "h100"
    own_constants: OwnConstants = ""


def setting_of(inputs: Inputs) -> BucketedJob:
    """Return the job; nodes have eight GPUs."""
    return BucketedJob(
        model=OFFERED[inputs.model],
        gpu=inputs.gpu,
        world_size=inputs.world_size,
        ports_per_node=inputs.ports,
        port=inputs.port,
        tokens=float(inputs.tokens),
        gradient=inputs.dtype,
        cap=inputs.bucket,
        first=min(inputs.first, inputs.bucket),
        ready=inputs.order == "ready",
        overlap=inputs.overlap,
        slow_down=inputs.slow_down,
        own_constants=inputs.own_constants,
    )


def memory_of(inputs: Inputs) -> float:
    """Return the memory of the GPU."""
    return GPUS[inputs.gpu].memory


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
