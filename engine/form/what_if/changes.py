"""The levers: possible changes of a job, each declared once.

A lever either changes inputs (then the cost model is run again with them), changes the machine, or
takes away a part of the step (then what is left is computed from the parts of the step).
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from engine.catalog.models import MODELS
from engine.core.inputs import Scalar
from engine.core.units import Count, Seconds
from engine.form.what_if.inputs import Inputs
from engine.run.run import Run
from engine.simulate.step.elasticity import faster_links, faster_ports
from engine.simulate.step.step_time import StepTime
from engine.simulate.step.what_if import (
    balanced_documents_saving,
    equal_gpus_saving,
    faster_kernels_saving,
    no_contention_saving,
)

Change = Mapping[str, Scalar]


@dataclass(frozen=True, slots=True, kw_only=True)
class Lever:
    """A possible change of a job.

    Attributes:
        key: of its row.
        label: what is done.
        family: "setting", "plan", "machine" or "waiting".
        change: inputs -> the inputs that change; None where it does not apply.
        machine: run -> run on another machine.
        removed: (inputs, run, step) -> seconds that go away.
        side: what it costs or risks.
        evidence: what others measured, with conditions; empty if it is only modelled.
        sources: keys of the bibliography.
    """

    key: str
    label: str
    family: str
    change: Callable[[Inputs], Change | None] | None = None
    machine: Callable[[Run], Run | None] | None = None
    removed: Callable[[Inputs, Run, StepTime], Seconds] | None = None
    side: str = ""
    evidence: str = ""
    sources: tuple[str, ...] = ()


def _unless(name: str, wanted: Scalar) -> Callable[[Inputs], Change | None]:
    return lambda inputs: None if getattr(inputs, name) == wanted else {name: wanted}


def _times(name: str, factor: Count, high: Count) -> Callable[[Inputs], Change | None]:
    def change(inputs: Inputs) -> Change | None:
        more = getattr(inputs, name) * factor
        return {name: more} if more <= high else None

    return change


def _less_recompute(inputs: Inputs) -> Change | None:
    less = {"full": "selective", "selective": "none"}
    return {"recompute": less[inputs.recompute]} if inputs.recompute in less else None


def _fp8(inputs: Inputs) -> Change | None:
    if inputs.gpu.startswith("A100") or inputs.precision == "fp8":
        return None
    return {"precision": "fp8"}


def _async_tensor(inputs: Inputs) -> Change | None:
    if inputs.tensor_parallel == 1 or inputs.overlap_tensor_parallel:
        return None
    return {"overlap_tensor_parallel": True}


def _less_tensor(inputs: Inputs) -> Change | None:
    half = inputs.tensor_parallel // 2
    return {"tensor_parallel": half} if half else None


def _less_pipeline(inputs: Inputs) -> Change | None:
    half = inputs.pipeline_parallel // 2
    return {"pipeline_parallel": half, "virtual_pipeline": 1} if half else None


def _pieces(inputs: Inputs) -> Change | None:
    stages, pieces = inputs.pipeline_parallel, inputs.virtual_pipeline
    most = MODELS[inputs.model].num_layers // stages
    if stages == 1 or pieces * 2 > min(most, 16):
        return None
    return {"virtual_pipeline": pieces * 2}


def _zero_one(inputs: Inputs) -> Change | None:
    return {"zero_stage": "1"} if inputs.zero_stage == "3" else None


def _links(run: Run) -> Run | None:
    return faster_links(run, 2.0) if run.cluster.gpu.scale_up else None


LEVERS = (
    Lever(
        key="recompute",
        label="Recompute less",
        family="setting",
        change=_less_recompute,
        side="Activations need more memory.",
        sources=("korthikanti2022",),
    ),
    Lever(
        key="fp8",
        label="Linear layers in fp8",
        family="setting",
        change=_fp8,
        side="Needs scaling and a check of the loss; gradients stay as wide as they were.",
        sources=("megatron_bridge",),
    ),
    Lever(
        key="compiled",
        label="Fuse element-wise kernels",
        family="setting",
        change=_unless("compiled", True),
        side="Compile time at the start.",
    ),
    Lever(
        key="flash_attention",
        label="Fused attention",
        family="setting",
        change=_unless("flash_attention", True),
        side="Nothing; it saves memory too.",
        sources=("dao2022",),
    ),
    Lever(
        key="micro_batch",
        label="Micro-batch twice as large",
        family="setting",
        change=_times("micro_batch_size", 2, 64),
        side="More activations; fewer micro-batches, so a larger bubble.",
    ),
    Lever(
        key="global_batch",
        label="Global batch twice as large",
        family="setting",
        change=_times("global_batch_size", 2, 65_536),
        side="Fewer steps learn less per token near the critical batch.",
        sources=("mccandlish2018",),
    ),
    Lever(
        key="overlap_gradients",
        label="Reduce gradients beside the backward pass",
        family="setting",
        change=_unless("overlap_gradient_reduce", True),
        side="Collectives take multiprocessors from the products.",
        sources=("li2020",),
    ),
    Lever(
        key="overlap_tensor",
        label="Overlap tensor parallelism (async TP)",
        family="setting",
        change=_async_tensor,
        side="Collectives take multiprocessors from the products.",
        evidence="Reported with torchtitan: about 8 % for a whole step of Llama 3 on 64 H100.",
        sources=("async_tp2024",),
    ),
    Lever(
        key="pieces",
        label="Twice as many virtual stages",
        family="plan",
        change=_pieces,
        side="More messages between stages, more activations held.",
        sources=("narayanan2021",),
    ),
    Lever(
        key="less_tensor",
        label="Half as much tensor parallelism",
        family="plan",
        change=_less_tensor,
        side="Twice the states and activations on a GPU.",
    ),
    Lever(
        key="less_pipeline",
        label="Half as many stages",
        family="plan",
        change=_less_pipeline,
        side="Twice the layers on a GPU, in one piece per stage.",
    ),
    Lever(
        key="zero_one",
        label="Shard only the optimizer (ZeRO-1)",
        family="plan",
        change=_zero_one,
        side="Parameters and gradients stay whole on every GPU.",
        sources=("rajbhandari2020",),
    ),
    Lever(
        key="ports",
        label="Network ports twice as fast",
        family="machine",
        machine=lambda run: faster_ports(run, 2.0),
        side="Another fabric.",
    ),
    Lever(
        key="links",
        label="Links inside the node twice as fast",
        family="machine",
        machine=_links,
        side="Another generation of GPU.",
    ),
    Lever(
        key="kernels",
        label="Faster communication kernels",
        family="waiting",
        removed=lambda inputs, run, step: faster_kernels_saving(run, step, inputs.kernel_gain),
        side="Only waits inside a node get shorter; between nodes the wire sets the pace.",
        evidence="Kernels up to 2.6 times as fast as NCCL's; a figure for kernels, not for steps.",
        sources=("day1inference", "sul2025"),
    ),
    Lever(
        key="contention",
        label="No contention for multiprocessors",
        family="waiting",
        removed=lambda inputs, run, step: no_contention_saving(run, step, inputs.contention),
        side="Copy engines or in-switch adding instead of kernels.",
        evidence="Computing beside collectives was 18.9 % slower on average, 40 % at most.",
        sources=("lee2025",),
    ),
    Lever(
        key="documents",
        label="Balance documents under context parallelism",
        family="waiting",
        removed=lambda inputs, run, step: balanced_documents_saving(run, step, inputs.imbalance),
        side="Another packing of the documents.",
    ),
    Lever(
        key="stragglers",
        label="All GPUs equally fast",
        family="waiting",
        removed=lambda inputs, run, step: equal_gpus_saving(step),
        side="A bound: GPUs of one type differ.",
        sources=("david2003",),
    ),
)
