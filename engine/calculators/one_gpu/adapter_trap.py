"""The adapter trap: gradient memory of FSDP when a unit mixes frozen and trained parameters."""

from dataclasses import dataclass
from functools import partial
from typing import Annotated

from engine.catalog.models import MODELS
from engine.core.inputs import Choice, Number
from engine.core.outputs import Output, Presenter, Views
from engine.core.units import Bytes, Count, Ratio
from engine.core.views import Bar, Bars, Segment
from engine.formulas.activations import HALF
from engine.formulas.parameters import total_parameters
from engine.simulate.layer.adapters import block_with_adapters
from engine.simulate.memory.cast_weights import cast_leftover_bytes

TITLE = "One block with adapters"
QUESTION = "For how many elements is a gradient allocated when adapters share a unit with weights?"
HEADLINE = "over"
EQUATIONS = ()
PRESETS = {"Llama 3 70B": {"model": "llama-3-70b"}, "Llama 3 8B, rank 64": {"lora_rank": 64}}


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """The calculator's inputs."""

    model: Annotated[
        str,
        Choice(
            label="Model", cites=False, options={key: model.name for key, model in MODELS.items()}
        ),
    ] = "mixtral-8x7b"
    lora_rank: Annotated[
        int, Number(label="Rank of the adapters", low=1, high=1024, scale="log2", whole=True)
    ] = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The gradient memory of a transformer block under two FSDP wrappings."""

    together: Annotated[
        Count,
        Output(
            "Elements, wrapped together",
            color="gradients",
            assumes=("All parameters of a block: adapters, weights, norms, all experts.",),
            sources=("litgpt1538",),
        ),
    ]
    trained: Annotated[
        Count,
        Output(
            "Elements that are trained",
            assumes=("Adapters of queries and values: r(2h + q + v).",),
            sources=("hu2021",),
        ),
    ]
    over: Annotated[Ratio, Output("Too many by", assumes=("The two numbers above, divided.",))]
    size: Annotated[
        Bytes,
        Output(
            "Gradient of the block",
            note="in 16 bits, before it is sharded",
            color="gradients",
            assumes=("Two bytes for each element.",),
        ),
    ]
    needed: Annotated[Bytes, Output("Needed", assumes=("Two bytes for each trained element.",))]
    left: Annotated[
        Bytes,
        Output(
            "Blocks that a cast leaves",
            note="on one GPU, of a model that was made in single precision",
            color="parameters",
            assumes=(
                "Four bytes for each parameter, and the first copy in 16 bits.",
                "PyTorch's allocator gives no block back while a part of it is in use.",
            ),
            sources=("pytorch_memory",),
        ),
    ]
    loaded: Annotated[
        Bytes,
        Output(
            "Weights loaded in 16 bits", assumes=("Two bytes for each parameter of the model.",)
        ),
    ]


def solve(inputs: Inputs) -> Result:
    """Return every number of the page."""
    model = MODELS[inputs.model]
    block = block_with_adapters(model, inputs.lora_rank)
    return Result(
        together=round(block.together),
        trained=round(block.trained),
        over=block.over,
        size=HALF * block.together,
        needed=HALF * block.trained,
        left=cast_leftover_bytes(model),
        loaded=HALF * total_parameters(model),
    )


def views(inputs: Inputs, result: Result) -> Views:
    """Return the views, in the order of the page."""
    present = Presenter(inputs, result)
    return {
        **present.values("together", "trained", "over", "size", "needed", "left", "loaded"),
        "bars": partial(_bars, present, result),
    }


def _bars(present: Presenter, result: Result) -> Bars:
    rows = (
        ("together", "wrapped together", result.size),
        ("apart", "wrapped apart", result.needed),
    )
    return Bars(
        title="The gradient of one block before it is sharded",
        axis=present.axis("size", "gradient", low=0.0, high=result.size),
        bars=tuple(
            Bar(
                key=key,
                label=label,
                segments=(Segment(key=key, label="gradient", value=value, color="gradients"),),
            )
            for key, label, value in rows
        ),
    )
