"""Claims about memory: states, sharding, activations."""

from engine.calculators.reference.claims_checked.claim import Claim
from engine.core.text import Text, say
from engine.core.units import BYTES, GB, MB, RATIO, SHARE
from engine.formulas.gpt import korthikanti_activations
from engine.formulas.states import MIXED_PRECISION, sharded_states
from engine.formulas.zero_gains import zero_saving

_GUIDES = "vizuara_guides"
_PIPELINE = "pingdo_pipeline"
_HIDDEN, _HEADS, _SEQUENCE = 12288, 96, 2048  # GPT-3 175B, as the published text describes it


def claims() -> tuple[Claim, ...]:
    """Return the claims: sharding first, then the memory of a model."""
    return (*(_saving(stage) for stage in (1, 2, 3)), *_states(), *_activations())


def _saving(stage: int) -> Claim:
    return Claim(
        key=f"E1.{stage}",
        said=f"Share of the model states that ZeRO-{stage} removes from a GPU",
        printed=say("{two}", two=(zero_saving(MIXED_PRECISION, stage, 2), SHARE)),
        right=say(
            "{eight} at 8 GPUs, {many} at 64",
            eight=(zero_saving(MIXED_PRECISION, stage, 8), SHARE),
            many=(zero_saving(MIXED_PRECISION, stage, 64), SHARE),
        ),
        verdict="condition",
        why="The printed share holds for two GPUs. The source does not say so.",
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
            said="Memory for the parameters, gradients and optimizer states of a 175B model",
            printed="over 1.2 TB",
            right=of(175e9),
            verdict="wrong",
            why="Training in mixed precision with Adam keeps 16 bytes for each parameter.",
            sources=(_PIPELINE, "rajbhandari2020"),
        ),
        Claim(
            key="E4.40",
            said="Memory for momentum and variance of a 175B model in fp32",
            printed="700 GB",
            right=say(
                "{both}, and {copy} more for the fp32 copy of the parameters",
                both=(moments, BYTES),
                copy=(175e9 * 4.0, BYTES),
            ),
            verdict="wrong",
            why="There are two moments of four bytes for each parameter. The printed size is that "
            "of one.",
            sources=(_PIPELINE, "rajbhandari2020"),
        ),
        Claim(
            key="E2.10",
            said="Size of the gradients of a 175B model in fp16",
            printed="about 700 GB",
            right=say("{size}", size=(175e9 * 2.0, BYTES)),
            verdict="wrong",
            why="A gradient in fp16 has two bytes. Gradients in fp32 take 700 GB, and each "
            "GPU of a large ring sends about as many bytes for gradients in fp16.",
            sources=("pingdo_job",),
        ),
        Claim(
            key="E3.23",
            said="Whether plain data parallelism can train a 400B model",
            printed="it can",
            right=of(400e9),
            verdict="wrong",
            why="With plain data parallelism, every single GPU would have to hold that much.",
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
            said="Activations of one GPT-3 layer for one sequence of 2,048 tokens",
            printed=say("about {size}", size=(printed, BYTES)),
            right=say(
                "{state} for the hidden state alone, {layer} for the layer",
                state=(state, BYTES),
                layer=(layer, BYTES),
            ),
            verdict="wrong",
            why=say("A layer needs {n} the printed size.", n=(layer / printed, RATIO)),
            sources=(_PIPELINE, "korthikanti2022"),
        ),
        Claim(
            key="E4.39",
            said="Share of an 80 GB A100 that 32 micro-batches of 96 such layers take",
            printed=say("{share}", share=(whole / (32 * GB), SHARE)),
            right=say(
                "{share}, even with the printed {size}",
                share=(whole / (80 * GB), SHARE),
                size=(whole, BYTES),
            ),
            verdict="wrong",
            why="The printed share is that of a GPU with 32 GB. Also, a stage holds only a part of "
            "the layers.",
            sources=(_PIPELINE,),
        ),
    )
