"""Claims about memory: states, sharding, activations."""

from engine.basis.text import Text, say
from engine.basis.units import BYTES, GB, MB, RATIO, SHARE
from engine.calculators.reference.claims_checked.claim import Claim
from engine.formulas.activations import korthikanti_activations
from engine.formulas.states import MIXED_PRECISION, sharded_states, zero_saving

_GUIDES = "vizuara_guides"
_PIPELINE = "pingdo_pipeline"
_HIDDEN, _HEADS, _SEQUENCE = 12288, 96, 2048  # GPT-3 175B, as the published text describes it


def claims() -> tuple[Claim, ...]:
    """Return the claims: sharding first, then what a model needs."""
    return (*(_saving(stage) for stage in (1, 2, 3)), *_states(), *_activations())


def _saving(stage: int) -> Claim:
    return Claim(
        key=f"E1.{stage}",
        said=f"Memory of the states that ZeRO of stage {stage} saves",
        printed=say("{two}", two=(zero_saving(MIXED_PRECISION, stage, 2), SHARE)),
        right=say(
            "{eight} at 8 GPUs, {many} at 64",
            eight=(zero_saving(MIXED_PRECISION, stage, 8), SHARE),
            many=(zero_saving(MIXED_PRECISION, stage, 64), SHARE),
        ),
        verdict="condition",
        why="The printed share holds for two GPUs, which is not said.",
        sources=(_GUIDES, "rajbhandari2020"),
    )


def _states() -> tuple[Claim, ...]:
    def of(parameters: float) -> Text:
        states = sharded_states(parameters, MIXED_PRECISION, 0, 1)
        return say("{all}", all=(states.parameters + states.gradients + states.optimizer, BYTES))

    moments = 175e9 * 8.0
    return (
        Claim(
            key="E4.11",
            said="Parameters, gradients and optimizer of 175B parameters",
            printed="over 1.2 TB",
            right=of(175e9),
            verdict="wrong",
            why="Mixed precision with Adam keeps 16 bytes for each parameter.",
            sources=(_PIPELINE, "rajbhandari2020"),
        ),
        Claim(
            key="E4.40",
            said="Momentum and variance of 175B parameters in fp32",
            printed="700 GB",
            right=say(
                "{both}, and {copy} for the fp32 copy",
                both=(moments, BYTES),
                copy=(175e9 * 4.0, BYTES),
            ),
            verdict="wrong",
            why="Two moments of four bytes each.",
            sources=(_PIPELINE, "rajbhandari2020"),
        ),
        Claim(
            key="E2.10",
            said="Gradients of 175B parameters in fp16",
            printed="about 700 GB",
            right=say("{size}", size=(175e9 * 2.0, BYTES)),
            verdict="wrong",
            why="Two bytes each; it is 700 GB in fp32, or on the wire of a large ring.",
            sources=("pingdo_job",),
        ),
        Claim(
            key="E3.23",
            said="A model of 400B parameters trained by plain data parallelism",
            printed="possible",
            right=of(400e9),
            verdict="wrong",
            why="So much would have to fit into every single GPU.",
            sources=("pingdo_sync", "rajbhandari2020"),
        ),
    )


def _activations() -> tuple[Claim, ...]:
    tokens = float(_SEQUENCE)
    state = 2.0 * tokens * _HIDDEN
    layer = korthikanti_activations(tokens, _HIDDEN, _HEADS, _SEQUENCE, 1)
    printed = 4 * MB
    whole = 32 * 96 * printed
    return (
        Claim(
            key="E4.37",
            said="Activations of a GPT-3 layer for one sequence of 2,048 tokens",
            printed=say("about {size}", size=(printed, BYTES)),
            right=say(
                "{state} for the hidden state alone, {layer} for the layer",
                state=(state, BYTES),
                layer=(layer, BYTES),
            ),
            verdict="wrong",
            why=say("It is {n} too small.", n=(layer / printed, RATIO)),
            sources=(_PIPELINE, "korthikanti2022"),
        ),
        Claim(
            key="E4.39",
            said="32 micro-batches of 96 such layers, as a share of an A100 of 80 GB",
            printed=say("{share}", share=(whole / (32 * GB), SHARE)),
            right=say(
                "{share} even by its own {size}",
                share=(whole / (80 * GB), SHARE),
                size=(whole, BYTES),
            ),
            verdict="wrong",
            why="The printed share is of a GPU with 32 GB; and a stage holds a part of the layers.",
            sources=(_PIPELINE,),
        ),
    )
