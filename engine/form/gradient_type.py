"""Field of the type in which ranks sum gradients."""

from typing import Annotated, Literal

from engine.core.inputs import Choice

# A page opens with the type of its framework or claim.
GradientType = Annotated[
    Literal["bf16", "fp32"],
    Choice(
        label="Gradients in",
        options={"fp32": "fp32", "bf16": "bf16"},
        help="By default, Megatron-LM, torchtitan and DDP under autocast sum in fp32; DeepSpeed, "
        "and DDP of a model in bf16, in bf16.",
    ),
]
