"""Every number of the memory ledger."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Annotated, cast

from engine.calculators.one_gpu.memory_ledger.inputs import TRAINED, Inputs, job
from engine.catalog.accelerators import ACCELERATORS
from engine.catalog.models import MODELS
from engine.catalog.reader_constants import parse
from engine.catalog.reader_constants import reached as reached_of
from engine.core.lazy import Later
from engine.core.outputs import Told
from engine.core.units import Bytes, Parameters
from engine.formulas.activations import SINGLE
from engine.formulas.operations import local_tokens
from engine.formulas.parameters import total_parameters
from engine.simulate.layer.adapters import Trained, held_with
from engine.simulate.memory.allocator import Memory, allocated, process, reserved, usable
from engine.simulate.memory.step_memory import Instant, fullest, step_memory

_STATES = (
    "FSDP: parameters, gradients and two moments of Adam in single precision, 16 bytes together; "
    "with adapters, frozen weights in 2 bytes or in 4 bits.",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What the GPU holds at its fullest, over a step, and as three tools show it.

    `by_trained` is its memory by what is trained, and whether adapters are wrapped wrongly.
    """

    total: Annotated[
        Bytes,
        Told(
            "Allocated at the peak",
            note="max_memory_allocated",
            color="activations",
            assumes=(
                "States, the activations of one micro-batch, gathered parameters, the workspace.",
                *_STATES,
            ),
        ),
    ]
    reserved: Annotated[
        Bytes,
        Told(
            "Reserved",
            note="max_memory_reserved",
            assumes=(
                "The allocator keeps blocks that fit nothing: a share fitted to torchtitan's "
                "published peaks.",
            ),
            sources=("torchtitan",),
        ),
    ]
    process: Annotated[
        Bytes,
        Told(
            "In nvidia-smi",
            note="with the CUDA context and NCCL",
            assumes=("The context of an A100 was measured; NCCL's buffers are fitted.",),
            sources=("bigscience2022",),
        ),
    ]
    states: Annotated[Bytes, Told("States", color="optimizer", assumes=_STATES)]
    activations: Annotated[
        Bytes,
        Told(
            "Activations at the peak",
            color="activations",
            assumes=("Of one micro-batch; with adapters as if all weights were trained.",),
        ),
    ]
    logits: Annotated[
        Bytes,
        Told(
            "One copy of the logits in fp32",
            color="activations",
            assumes=("4 bytes for every token and every entry of the vocabulary.",),
        ),
    ]
    capacity: Annotated[
        Bytes, Told("Memory of the GPU", basis="datasheet", assumes=("80 GB are 80 GiB.",))
    ]
    usable: Annotated[
        Bytes, Told("Usable", assumes=("Without the CUDA context and NCCL's buffers.",))
    ]
    parameters: Annotated[Parameters, Told("Parameters", assumes=("From the model's shape.",))]
    held: Memory
    instants: tuple[Instant, ...]
    peak: Instant
    by_trained: Later[Mapping[tuple[str, bool], Memory]]


def solve(inputs: Inputs) -> Result:
    """Return every number of the page."""
    model, gpu = MODELS[inputs.model], ACCELERATORS[inputs.gpu]
    plan, training = job(inputs)
    trained = cast(Trained, inputs.trained)
    held = held_with(model, plan, training, trained, trapped=inputs.trapped)
    reached = reached_of(gpu, parse(inputs.own_constants))
    rates = gpu.peak["fp16"] * reached.matmul, gpu.memory_bandwidth * reached.memory
    instants = step_memory(model, plan, training, held, rates)
    return Result(
        total=allocated(held),
        reserved=reserved(held),
        process=process(held),
        states=held.parameters + held.gradients + held.optimizer,
        activations=held.activations,
        logits=SINGLE * local_tokens(plan, training) * model.vocab_size,
        capacity=gpu.memory,
        usable=usable(gpu.memory, training),
        parameters=total_parameters(model),
        held=held,
        instants=instants,
        peak=fullest(instants),
        by_trained=Later(partial(_by_trained, inputs)),
    )


def _by_trained(inputs: Inputs) -> Mapping[tuple[str, bool], Memory]:
    found = {}
    for kind in TRAINED:
        plan, training = job(replace(inputs, trained=kind))
        for trapped in (False, True) if kind == "lora" else (False,):
            found[kind, trapped] = held_with(
                MODELS[inputs.model], plan, training, cast(Trained, kind), trapped=trapped
            )
    return found
