"""Inputs of the expert-exchange calculator."""

from dataclasses import dataclass
from typing import Annotated

from engine.catalog.models import MODELS
from engine.catalog.nodes import NODES
from engine.core.inputs import Choice, Number
from engine.form.fields import OwnConstants

_MACHINES = ("h800", "dgx-a100", "dgx-h100", "dgx-h200", "dgx-b200", "gb200-nvl72")
WIDTHS = {"fp8": 1.0, "bf16": 2.0}
SPARSE = {key: model.name for key, model in MODELS.items() if model.num_experts}
RANKS = (1, 2, 4, 8, 16, 32, 64, 128, 256)


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """The calculator's inputs."""

    model: Annotated[str, Choice(label="Model", cites=False, options=SPARSE)] = "deepseek-v3"
    machine: Annotated[
        str, Choice(label="Machine", options={key: NODES[key].name for key in _MACHINES})
    ] = "dgx-h100"
    expert_parallel: Annotated[
        int,
        Number(
            label="Ranks that share the experts",
            low=1,
            high=256,
            scale="log2",
            whole=True,
            symbol="r",
            help="Expert parallelism (EP). No more than there are experts.",
        ),
    ] = 64
    num_tokens: Annotated[
        int,
        Number(label="Tokens of a GPU", low=128, high=65_536, scale="log2", whole=True, symbol="T"),
    ] = 4096
    nodes_limit: Annotated[
        int,
        Number(
            label="Nodes of a token's experts, at most",
            low=0,
            high=16,
            whole=True,
            symbol="M",
            help="Node-limited routing; DeepSeek-V3 takes 4. 0: no limit.",
        ),
    ] = 4
    way: Annotated[
        str,
        Choice(
            label="Over the network travels",
            options={"nodes": "one copy per node (DeepEP)", "copies": "each copy (all-to-all)"},
        ),
    ] = "nodes"
    dispatch: Annotated[str, Choice(label="Out in", options={"fp8": "fp8", "bf16": "bf16"})] = "fp8"
    combine: Annotated[str, Choice(label="Back in", options={"fp8": "fp8", "bf16": "bf16"})] = (
        "bf16"
    )
    hot: Annotated[
        float,
        Number(
            label="Hot expert, over the mean",
            low=1.0,
            high=16.0,
            step=0.5,
            help="How many times the mean number of tokens choose it; 1: all alike.",
        ),
    ] = 1.0
    own_constants: OwnConstants = ""
