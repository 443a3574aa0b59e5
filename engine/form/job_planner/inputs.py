"""Inputs of the job planner: the job, the machines, the price, the wish."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Annotated, Any

from engine.catalog.accelerators import ACCELERATORS
from engine.catalog.more_nodes import EVERY_NODE
from engine.catalog.rental_prices import RENTAL_PRICES
from engine.core import units
from engine.core.inputs import GBITS, TRILLIONS, Choice, InputError, Number, Scalar, Text, Unit
from engine.core.text import Text as Words
from engine.core.units import DAY, HOUR, Count, Gbit, Price
from engine.form import short_job
from engine.form.fields import (
    CudaGraphs,
    ExpertExchange,
    FusedExperts,
    OverlapExpertParallel,
    OverlapTensorParallel,
    OwnConstants,
)
from engine.form.own_gpu import (
    OWN_GPU,
    OWN_GPU_NAME,
    OwnBandwidth,
    OwnMemory,
    OwnPeak,
    OwnPeakFp8,
    OwnScaleUp,
    own_gpu_changes,
    own_gpu_section,
)
from engine.form.price import PRICE
from engine.form.run.inputs import CUSTOM, RECENT_NAMES
from engine.form.run.inputs import Inputs as Form
from engine.form.run.nearest_valid import nearest_run
from engine.run.file import read_model
from engine.run.importers.hugging_face import is_hugging_face_config
from engine.run.machines import transport_of
from engine.run.model_keys import model_keys
from engine.run.parallelism import UNASKED
from engine.run.plan_request import PlanRequest, read_job
from engine.run.values import load_json

OWN = "own"
NONE = "none"
_TOKENS = Unit("M", 1e6, {"k": 1e3, "B": 1e9, "T": 1e12}, quantity=units.TOKENS)
_DAYS = Unit(" days", DAY, {"h": HOUR, "d": DAY, "weeks": 7 * DAY}, quantity=units.SECONDS)
_MONEY = Unit("", 1.0, {"k": 1e3, "M": 1e6}, quantity=units.MONEY)
_TRANSPORTS: Mapping[str, str] = {
    "infiniband": "InfiniBand",
    "roce": "RoCE or Ethernet",
    "efa-v1": "EFA of p4d, p4de",
    "efa-v2": "EFA of p5",
    "efa-v3": "EFA of p5en",
    "efa-v4": "EFA of p6",
}
_NODE_NAMES = {key: node.name for key, node in EVERY_NODE.items()}
_MACHINES = _NODE_NAMES | {OWN: "your own (below)"}
_MINE = "Of a machine of your own."
_MODELS = {**short_job.ALL_MODELS, **RECENT_NAMES}
# What a job trains, and the settings of a run file that say so.
_TRAINED: Mapping[str, str] = {
    "full": "all parameters",
    "continued": "all parameters, from a checkpoint",
    "lora": "LoRA: adapters",
    "qlora": "QLoRA: adapters, the rest in 4 bits",
}


def _count(label: str, high: int, *, low: int = 1, symbol: str = "", help: str = "") -> Number:
    scale = "log2" if low else "linear"
    return Number(
        label=label, low=low, high=high, scale=scale, whole=True, symbol=symbol, help=help
    )


def check_config(text: str) -> None:
    """Raise `InputError` with the reason where a text is no model's config.json."""
    if text.strip():
        _model_of_config(text)


def _model_of_config(text: str) -> Mapping[str, Any]:
    try:
        value = load_json(text)
    except (ValueError, RecursionError) as error:
        raise InputError(f"this is no JSON: {error}") from None
    if not isinstance(value, Mapping) or not is_hugging_face_config(value):
        raise InputError("this is no config.json: it names no size of a model")
    problems: list[str] = []
    if read_model(value, problems) is None:
        more = f"; and {len(problems) - 1} more" if len(problems) > 1 else ""
        raise InputError(problems[0] + more)
    return value


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs(short_job.Shape):
    """Inputs of the job planner; the shape of a model counts where `model` says so."""

    model: Annotated[str, Choice(label="Model", cites=False, options=_MODELS)] = "llama-3-70b"
    config: Annotated[
        str,
        Text(
            label="Or the config.json of your model",
            rows=2,
            files=".json",
            empty="",
            placeholder='{"model_type": "llama", "hidden_size": 4096, ...}',
            check=check_config,
            help="Dropped or pasted, it stands in place of the model above.",
        ),
    ] = ""
    tokens: Annotated[
        float,
        Number(label="Tokens of the run", unit=TRILLIONS, low=1e6, high=1e15, scale="log"),
    ] = 1e12
    sequence_length: Annotated[int, _count("Sequence length", 1 << 20, low=128, symbol="s")] = 8192
    batch_tokens: Annotated[
        float,
        Number(
            label="Global batch, tokens",
            unit=_TOKENS,
            low=1024.0,
            high=2.0**30,
            scale="log",
            help="Rounded to sequences, and to a number that divides well.",
        ),
    ] = 4 * 2.0**20
    global_batch_size: Annotated[
        int,
        replace(
            _count(
                "Global batch, sequences",
                16_384,
                low=0,
                symbol="B",
                help="In place of its tokens. 0: as many as those make.",
            ),
            advanced=True,
        ),
    ] = 0
    trained: Annotated[str, Choice(label="What is trained", options=_TRAINED)] = "full"
    lora_rank: Annotated[
        int,
        Number(
            label="Rank of the adapters",
            low=1,
            high=1024,
            scale="log2",
            whole=True,
            help="Of LoRA and QLoRA.",
            advanced=True,
        ),
    ] = 16
    machine: Annotated[str, Choice(label="Machine", options=_MACHINES)] = "dgx-h100"
    gpu: Annotated[
        str,
        Choice(
            label="GPU",
            options={key: gpu.name for key, gpu in ACCELERATORS.items()} | {OWN_GPU: OWN_GPU_NAME},
            help=_MINE,
            advanced=True,
        ),
    ] = "H100-SXM"
    own_peak: OwnPeak = 989e12
    own_peak_fp8: OwnPeakFp8 = 0.0
    own_memory: OwnMemory = 80e9
    own_bandwidth: OwnBandwidth = 3.35e12
    own_scale_up: OwnScaleUp = 450e9
    gpus_per_node: Annotated[
        int,
        Number(label="GPUs per node", low=1, high=72, whole=True, help=_MINE, advanced=True),
    ] = 8
    nics_per_node: Annotated[
        int,
        Number(label="Ports per node", low=1, high=72, whole=True, help=_MINE, advanced=True),
    ] = 8
    nic_bandwidth: Annotated[
        float,
        Number(
            label="Port, one way",
            unit=GBITS,
            low=1 * Gbit,
            high=3200 * Gbit,
            scale="log",
            help=_MINE,
            advanced=True,
        ),
    ] = 400 * Gbit
    transport: Annotated[
        str, Choice(label="Network", options=_TRANSPORTS, help=_MINE, advanced=True)
    ] = "infiniband"
    world_size: Annotated[int, _count("GPUs", 131_072, symbol="n")] = 512
    precision: Annotated[
        str, Choice(label="Precision", options={key: key for key in ("bf16", "fp16", "fp8", "fp4")})
    ] = "bf16"
    framework: Annotated[
        str,
        Choice(
            label="Software",
            options={
                "both": "what runs on it",
                "megatron": "Megatron",
                "fsdp": "PyTorch FSDP",
            },
            help="TPU and Trainium run XLA alone, QLoRA runs under FSDP.",
            advanced=True,
        ),
    ] = "both"
    price: Annotated[
        float,
        replace(
            PRICE,
            label="Price of a GPU (0: as listed)",
            low=0.0,
            scale="linear",
            step=0.01 / HOUR,
            help="In your own currency. 0 takes a list price in dollars, where there is one.",
        ),
    ] = 0.0
    deadline: Annotated[
        float,
        Number(
            label="Done within", unit=_DAYS, low=0.1 * DAY, high=3650 * DAY, scale="log", symbol="t"
        ),
    ] = 30 * DAY
    budget: Annotated[
        float, Number(label="Budget", unit=_MONEY, low=1.0, high=1e11, scale="log", symbol="K")
    ] = 2e6
    other_machine: Annotated[
        str,
        Choice(
            label="Or on this machine",
            options={NONE: "no other"} | _NODE_NAMES,
            help="The same job on two machines, side by side.",
        ),
    ] = NONE
    other_world_size: Annotated[
        int, replace(_count("GPUs of that machine", 131_072), advanced=True)
    ] = 256
    other_price: Annotated[
        float,
        replace(
            PRICE,
            label="Price of its GPU (0: as listed)",
            low=0.0,
            scale="linear",
            step=0.01 / HOUR,
            symbol="",
            help="0 takes a list price in dollars, where there is one.",
            advanced=True,
        ),
    ] = 0.0
    overlap_tensor_parallel: OverlapTensorParallel = UNASKED.overlap_tensor_parallel
    overlap_expert_parallel: OverlapExpertParallel = UNASKED.overlap_expert_parallel
    exchange: ExpertExchange = UNASKED.exchange
    cuda_graphs: CudaGraphs = UNASKED.cuda_graphs
    fused_experts: FusedExperts = UNASKED.fused_experts
    own_constants: OwnConstants = ""


def model_of(inputs: Inputs) -> tuple[str | Mapping[str, Any], tuple[Words, ...]]:
    """Return the model as a request says it, and what of its shape had to be changed."""
    if inputs.config.strip():
        return _model_of_config(inputs.config), ()
    if inputs.model != CUSTOM:
        return inputs.model, ()
    shape = {name: getattr(inputs, name) for name in short_job.Shape.__dataclass_fields__}
    run, changes = nearest_run(
        Form(
            **shape,
            model=inputs.model,
            world_size=1,
            tensor_parallel=1,
            pipeline_parallel=1,
            virtual_pipeline=1,
            context_parallel=1,
            micro_batch_size=1,
            global_batch_size=1,
            schedule="1f1b",
            sequence_parallel=False,
        )
    )
    return model_keys(run.model), changes


def changes_of(inputs: Inputs) -> tuple[Words, ...]:
    """Return what of the job had to be changed, in sentences."""
    own = inputs.machine == OWN and inputs.gpu == OWN_GPU
    return (*model_of(inputs)[1], *(own_gpu_changes(inputs) if own else ()))


def gpu_of(inputs: Inputs) -> str:
    """Return the GPU of the machine, as a key of `ACCELERATORS`; "own" for the reader's."""
    return inputs.gpu if inputs.machine == OWN else EVERY_NODE[inputs.machine].gpu


def price_of(inputs: Inputs) -> Price:
    """Return the price of a GPU: the reader's, else the list price of its kind, else 0."""
    listed = RENTAL_PRICES.get(gpu_of(inputs))
    return inputs.price or (listed.price if listed else 0.0)


def _cluster(inputs: Inputs) -> dict[str, Any]:
    """Return the machines with their price, as a request says them."""
    price = price_of(inputs)
    stated: dict[str, Any] = {"price_per_hour": price * HOUR} if price else {}
    if inputs.own_constants:
        stated["own_constants"] = inputs.own_constants
    if inputs.machine == OWN:
        own = inputs.gpu == OWN_GPU
        return {
            "gpu": own_gpu_section(inputs) if own else inputs.gpu,
            "gpus_per_node": inputs.gpus_per_node,
            "nics_per_node": inputs.nics_per_node,
            "nic_bandwidth": inputs.nic_bandwidth,
            "transport": inputs.transport,
            **stated,
        }
    node = EVERY_NODE[inputs.machine]
    return {
        "gpu": node.gpu,
        "gpus_per_node": node.gpus_per_node,
        "nics_per_node": node.nics_per_node,
        "nic_bandwidth": node.nic_bandwidth,
        "transport": transport_of(inputs.machine),
        **stated,
    }


def sequences(inputs: Inputs) -> Count:
    """Return the sequences of a global batch.

    Those of so many tokens are rounded to the multiple of the highest power of two that is within
    3 %: 4 million tokens of 8,192 are 480 sequences, which divide over GPUs where 488 do not.
    """
    if inputs.global_batch_size:
        return inputs.global_batch_size
    exact = max(1.0, inputs.batch_tokens / inputs.sequence_length)
    power = 1 << max(0, int(exact).bit_length())
    while power > 1 and abs(round(exact / power) * power - exact) > 0.03 * exact:
        power //= 2
    return max(1, round(exact / power) * power)


_SETTINGS = (
    "overlap_tensor_parallel",
    "overlap_expert_parallel",
    "exchange",
    "cuda_graphs",
    "fused_experts",
)


def request_document(inputs: Inputs) -> dict[str, Any]:
    """Return the job as a request to the planner, which the terminal and Python read too."""
    training = {
        name: getattr(inputs, name)
        for name in _SETTINGS
        if getattr(inputs, name) != getattr(UNASKED, name)
    }
    adapters = inputs.trained in ("lora", "qlora")
    if adapters:
        training["lora_rank"] = inputs.lora_rank
    if inputs.trained == "qlora":
        training |= {"lora_layers": "all", "nf4_weights": True}
    choose: dict[str, Any] = {"precisions": [inputs.precision]}
    key = gpu_of(inputs)
    compiled = key in ACCELERATORS and ACCELERATORS[key].xla
    if inputs.framework != "both" and not compiled and inputs.trained != "qlora":
        choose["frameworks"] = [inputs.framework]
    return {
        "model": model_of(inputs)[0],
        "sequence_length": inputs.sequence_length,
        "cluster": _cluster(inputs),
        "world_size": inputs.world_size,
        "global_batch_size": sequences(inputs),
        "tokens": int(inputs.tokens),
        **({"training": training} if training else {}),
        "choose": choose,
    }


def request_text(inputs: Inputs) -> str:
    """Return the request as the text of a file."""
    return json.dumps(request_document(inputs), indent=2) + "\n"


def request_of(inputs: Inputs) -> PlanRequest:
    """Return the request; raise the reader's `InputError` where it asks for what has no price."""
    return read_job(request_document(inputs))


def on_other_machine(inputs: Inputs) -> Inputs:
    """Return the same job on the machine that is compared."""
    return replace(
        inputs,
        machine=inputs.other_machine,
        world_size=inputs.other_world_size,
        price=inputs.other_price,
        other_machine=NONE,
    )


PRESETS: Mapping[str, Mapping[str, Scalar]] = {
    "Llama 3 70B for 15T tokens on 2,048 H100": {
        "tokens": 15e12,
        "global_batch_size": 2048,
        "machine": "grand-teton",
        "world_size": 2048,
    },
    "LoRA of 70B on two GPUs": {
        "tokens": 1e8,
        "sequence_length": 4096,
        "global_batch_size": 32,
        "trained": "lora",
        "world_size": 2,
    },
    "Qwen3 235B on 512 H200 over EFA": {
        "model": "qwen3-235b-a22b",
        "tokens": 36e12,
        "sequence_length": 4096,
        "global_batch_size": 2048,
        "machine": "p5en",
    },
    "DeepSeek-V3 on 256 B200 in FP8": {
        "model": "deepseek-v3",
        "tokens": 14.8e12,
        "sequence_length": 4096,
        "global_batch_size": 4096,
        "machine": "dgx-b200",
        "world_size": 256,
        "precision": "fp8",
        "overlap_expert_parallel": True,
        "cuda_graphs": True,
    },
    "30B on 64 MI300X, ports of 200 Gb/s": {
        "model": "custom",
        "num_layers": 60,
        "hidden_size": 6656,
        "num_attention_heads": 52,
        "num_key_value_heads": 52,
        "ffn_hidden_size": 17_920,
        "vocab_size": 32_000,
        "sequence_length": 4096,
        "machine": "own",
        "gpu": "MI300X",
        "nic_bandwidth": 200 * Gbit,
        "transport": "roce",
        "world_size": 64,
    },
}
