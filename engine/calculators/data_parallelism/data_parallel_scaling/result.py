"""Results of the scaling curves: every number with its label, symbol and note."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Annotated, Any

from engine.catalog.constants import COMMON
from engine.catalog.models import MODELS
from engine.catalog.scaling_runs import SCALED
from engine.core.inputs import (
    GBITS,
    PERCENT,
    PLAIN,
    Choice,
    Number,
    Switch,
)
from engine.core.outputs import Output
from engine.core.units import COUNT, Bandwidth, Bytes, FlopRate, Gbit, Ratio, Seconds, Share, Tokens
from engine.form.fields import LabGpu, OwnConstants, PortsPerEight
from engine.form.gradient_type import GradientType
from engine.formulas.parameters import total_parameters
from engine.formulas.scaling import hiding_tokens, scaling_efficiency
from engine.formulas.states import MIXED_PRECISION
from engine.formulas.stragglers import all_below
from engine.simulate.data_parallel.scaling import (
    ScalingJob,
    backward_rate,
    scaling_point,
    scaling_run,
    tokens_that_hide,
)
from engine.simulate.step.prediction_evidence import Evidence, evidence

# Inputs of the scaling calculator; the defaults are a published 7B run on A100.

LARGEST = 16_384
OFFERED = ("llama-2-7b", "llama-3-8b", "llama-2-13b", "llama-3-70b")


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """The calculator's inputs."""

    num_gpus: Annotated[
        int, Number(label="GPUs", low=1, high=LARGEST, scale="log2", whole=True, symbol="n")
    ] = 256
    mode: Annotated[
        str,
        Choice(
            label="Scaling",
            options={"weak": "weak: tokens per GPU stay", "strong": "strong: the batch stays"},
        ),
    ] = "weak"
    tokens: Annotated[
        int,
        Number(
            label="Tokens per GPU and step",
            low=256,
            high=1_048_576,
            scale="log2",
            whole=True,
            symbol="t",
            help="Weak scaling keeps them.",
        ),
    ] = 16_384
    batch: Annotated[
        int,
        Number(
            label="Tokens of the whole batch",
            unit=PLAIN,
            low=65_536,
            high=268_435_456,
            scale="log2",
            whole=True,
            help="Strong scaling keeps them.",
        ),
    ] = 4_194_304
    port: Annotated[
        float,
        Number(label="Network port", unit=GBITS, low=1 * Gbit, high=1600 * Gbit, scale="log"),
    ] = 100 * Gbit
    gradient: GradientType = "fp32"
    overlap: Annotated[bool, Switch(label="Overlap with the backward pass")] = True
    deviation: Annotated[
        float,
        Number(
            label="Jitter of a step",
            unit=PERCENT,
            low=0.0,
            high=0.2,
            step=0.0001,
            help="Standard deviation of one GPU's computing time.",
        ),
    ] = COMMON.deviation
    slower: Annotated[
        float,
        Number(
            label="One GPU is slower by",
            unit=PERCENT,
            low=0.0,
            high=0.5,
            step=0.01,
            help="Of its speed; everybody waits for it.",
        ),
    ] = 0.0
    model: Annotated[
        str,
        Choice(
            label="Model",
            cites=False,
            options={key: MODELS[key].name for key in OFFERED},
            advanced=True,
        ),
    ] = "llama-2-7b"
    gpu: LabGpu = "a100"
    ports_per_node: PortsPerEight = 4
    micro_batch: Annotated[
        int,
        Number(
            label="Tokens of a micro-batch",
            low=256,
            high=131_072,
            scale="log2",
            whole=True,
            advanced=True,
            help="Gradients are reduced behind the backward pass of the last one.",
        ),
    ] = 4096
    own_constants: OwnConstants = ""


def job_of(inputs: Inputs) -> ScalingJob:
    """Return the data-parallel job."""
    return ScalingJob(
        model=inputs.model,
        gpu=inputs.gpu,
        micro_batch=float(inputs.micro_batch),
        gradient=inputs.gradient,
        overlap=inputs.overlap,
        port=inputs.port,
        ports_per_node=inputs.ports_per_node,
        deviation=inputs.deviation,
        slower=inputs.slower,
        own_constants=inputs.own_constants,
    )


def tokens_of(inputs: Inputs, mode: str, num_gpus: int) -> Tokens:
    """Return the tokens of each of n GPUs: they stay, or the batch does."""
    return float(inputs.tokens) if mode == "weak" else inputs.batch / num_gpus


def alone_of(inputs: Inputs, mode: str) -> Tokens:
    """Return the tokens of a step of one GPU alone: as many, or the whole batch."""
    return float(inputs.tokens) if mode == "weak" else float(inputs.batch)


QUANTILE, _GOODPUT, _SEEN = 0.99, 0.95, 1e12
SIZES = tuple(2**i for i in range(15))
_MODEL = (
    "The step of the estimate: PyTorch's DDP with its buckets, the optimizer and the host; all "
    "wait for the slowest GPU, whose jitter is an input here."
)
_STEP: Mapping[str, Any] = {"assumes": (_MODEL,), "sources": ("li2020",)}


def _measured(label: str, setting: str) -> Output:
    return Output(
        f"Measured at {label} GPUs",
        "",
        setting,
        assumes=(
            "InternEvo, 7B, A100 80 GB, four ports of 100 Gb/s per node of 8: tokens per GPU "
            "and second over those on one node.",
            f"Setting: {setting}.",
        ),
        sources=("internevo",),
        basis="measured",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """Speed-up on n GPUs, its losses, and the curves over the number of GPUs."""

    speedup: Annotated[
        Ratio,
        Output(
            "Speed-up",
            "",
            "of {num_gpus} GPUs against one",
            assumes=("The number of GPUs times their efficiency.", _MODEL),
            sources=("li2020",),
        ),
    ]
    efficiency: Annotated[
        Share,
        Output(
            "Efficiency",
            "",
            "of its speed alone that each GPU keeps",
            assumes=(
                "Time per token of one GPU alone (strong: with the whole batch) over that of each "
                "of n.",
                _MODEL,
            ),
            sources=("li2020",),
        ),
    ]
    tokens_per_gpu: Annotated[
        Tokens,
        Output(
            "Tokens per GPU",
            "",
            "a pass of {pass_tokens} at a time",
            assumes=("Weak: as set. Strong: the batch over the number of GPUs.",),
            basis="definition",
        ),
    ]
    pass_tokens: Tokens
    hiding_tokens: Annotated[
        Tokens,
        Output(
            "Bound: tokens that hide the all-reduce",
            "t",
            "in one backward pass, whatever the model",
            assumes=(
                "F/W for gradients in 16 bits, 2F/W in fp32; many GPUs, no latency, no buckets.",
                "F: what a backward pass of {pass_tokens} tokens reaches here.",
            ),
        ),
    ]
    enough: Annotated[
        Tokens,
        Output(
            "Tokens that hide it, by the estimate",
            note="all but the last bucket and the embedding, on {num_gpus} GPUs",
            assumes=(
                "The least tokens of one backward pass beside which no bucket queues; buckets pay "
                "their latencies, and the pass is slower beside them.",
                _MODEL,
            ),
        ),
    ]
    gradient: Annotated[Bytes, Output(symbol="b", of="gradient")]
    rate: Annotated[FlopRate, Output(symbol="F")]
    widest: Annotated[Bandwidth, Output(symbol="W", of="port")]
    step_time: Annotated[Seconds, Output("Step", "", "of the slowest GPU", **_STEP)]
    compute: Annotated[Seconds, Output(symbol="Tc")]
    communication: Annotated[Seconds, Output(symbol="Tm")]
    exposed: Annotated[
        Seconds,
        Output("Exposed communication", "Te", "what the step waits for, and contention", **_STEP),
    ]
    optimizer: Annotated[Seconds, Output("Optimizer", "", "behind the last sum", **_STEP)]
    host: Annotated[Seconds, Output("Host", "", "reading the batch, logging", **_STEP)]
    waiting: Annotated[
        Seconds, Output("Waiting for the slowest", "", "mean over many steps", **_STEP)
    ]
    slowest: Annotated[Ratio, Output(symbol="m")]
    goodput: Annotated[Share, Output(symbol="g")] = _GOODPUT
    without_overlap: Annotated[Seconds, Output(symbol="Ts")]
    with_overlap: Seconds
    on_the_wall: Annotated[Seconds, Output(symbol="Tr")]
    all_below: Annotated[
        Share,
        Output(
            "No GPU has its slowest percent",
            "A",
            "share of the steps; a percent of each GPU's own times",
            assumes=("GPUs are independent; holds for every distribution.",),
        ),
    ]
    quantile: Annotated[Share, Output(symbol="q")] = QUANTILE
    one_in: Annotated[
        float,
        COUNT,
        Output(
            "Steps until that happens",
            "",
            "the mean wait for a step without a slowest percent",
            assumes=("One over the probability; beyond a trillion steps no run sees it.",),
            sources=("david2003",),
        ),
    ]
    states: Annotated[
        Bytes,
        Output(
            "States on every GPU",
            "",
            "the same with one GPU and with thousands",
            "parameters",
            assumes=(
                "2 bytes of parameter, 2 of gradient, 12 of Adam per parameter.",
                "Every replica holds all of it, however many there are.",
            ),
            sources=("rajbhandari2020",),
        ),
    ]
    evidence: Evidence
    link: Annotated[
        Bandwidth,
        Output(
            "All-reduce runs at",
            "",
            "bus bandwidth of large messages",
            assumes=("As measured: the slower of NVLink and all ports of a node, one way.",),
        ),
    ]
    limit: Ratio
    curves: Mapping[str, tuple[Share, ...]]
    measured_weak: Annotated[Share, _measured("1,024", "16,384 tokens per GPU and step")]
    measured_sharded: Annotated[
        Share, _measured("1,024", "the same, optimizer states sharded over all GPUs")
    ]
    measured_strong: Annotated[
        Share, _measured("1,024", "4,096 tokens per GPU and step, 4M in all")
    ]


def solve(inputs: Inputs) -> Result:
    """Return the step on n GPUs, and the curves over all of them."""
    job, n = job_of(inputs), inputs.num_gpus
    now = scaling_point(job, n, tokens_of(inputs, inputs.mode, n))
    widest = scaling_point(job, LARGEST, job.micro_batch).link
    rate = backward_rate(job, job.micro_batch)
    enough = hiding_tokens(rate, widest, job.element)
    lucky = all_below(QUANTILE, n)
    kept = _efficiency(inputs, job, inputs.mode, n)
    curves = {
        mode: tuple(_efficiency(inputs, job, mode, size) for size in SIZES)
        for mode in ("weak", "strong")
    }
    return Result(
        speedup=n * kept,
        efficiency=kept,
        tokens_per_gpu=now.tokens,
        pass_tokens=min(now.tokens, inputs.micro_batch),
        hiding_tokens=enough,
        enough=tokens_that_hide(job, n),
        gradient=job.element,
        rate=rate,
        widest=widest,
        step_time=now.step,
        compute=now.compute,
        communication=now.communication,
        exposed=now.exposed,
        optimizer=now.parts.optimizer,
        host=now.host,
        waiting=now.straggler_wait,
        slowest=now.slowest,
        without_overlap=now.blocking,
        with_overlap=now.compute + now.exposed,
        on_the_wall=now.step_with_failures(_GOODPUT),
        all_below=lucky,
        one_in=1 / lucky if lucky > 1 / _SEEN else math.inf,
        states=MIXED_PRECISION.total * total_parameters(MODELS[inputs.model]),
        evidence=evidence(scaling_run(job, n, tokens_of(inputs, inputs.mode, n))),
        link=now.link,
        limit=inputs.batch / enough,
        curves=curves,
        measured_weak=SCALED["node"].efficiencies[-1],
        measured_sharded=SCALED["all"].efficiencies[-1],
        measured_strong=SCALED["strong"].efficiencies[-1],
    )


def _efficiency(inputs: Inputs, job: ScalingJob, mode: str, num_gpus: int) -> Share:
    """Return the share of its speed alone that each of n GPUs keeps."""
    tokens, alone = tokens_of(inputs, mode, num_gpus), alone_of(inputs, mode)
    together = scaling_point(job, num_gpus, tokens)
    single = scaling_point(replace(job, slower=0.0), 1, alone)
    return scaling_efficiency(single.step / alone, together.step / tokens)
