"""Claims about pipelines: 4 stages, 8 micro-batches, 80 layers of 8,192, 4,096 tokens."""

from engine.calculators.reference.claims_checked.claim import Claim
from engine.catalog.accelerators import ACCELERATORS
from engine.catalog.models import MODELS
from engine.core.text import say
from engine.core.units import BYTES, COUNT, LINK_SPEED, SECONDS, SHARE, GiB, MiB
from engine.formulas.parameters import layer_parameters
from engine.formulas.pipeline import (
    bubble_over_ideal,
    bubble_share,
    one_f_one_b_peak,
    pipeline_bytes,
)

_PIPELINE, _GUIDES = "pingdo_pipeline", "vizuara_guides"
_STAGES, _MICROBATCHES, _LAYERS = 4, 8, 80
_TOKENS, _HIDDEN = 4096, 8192
_BOUNDARY = 2.0 * _TOKENS * _HIDDEN  # bytes of one micro-batch's hidden state
_SENT = _MICROBATCHES * 2 * _BOUNDARY  # one boundary, both ways
_PRINTED_COMPUTE = _LAYERS // _STAGES * _TOKENS * 1e-6  # 1 µs a token and layer gives its digits
# What a stage of Llama 3 70B really computes, forward and backward, at half of an H100's peak.
_COMPUTE = (
    6
    * layer_parameters(MODELS["llama-3-70b"])
    / _STAGES
    * _TOKENS
    * _MICROBATCHES
    / (0.5 * ACCELERATORS["H100-SXM"].peak["bf16"])
)


def claims() -> tuple[Claim, ...]:
    """Return the claims: the calculator's outputs, then the formulas."""
    return (*_outputs(), *_bubbles())


def _outputs() -> tuple[Claim, ...]:
    everywhere = pipeline_bytes(_MICROBATCHES, _STAGES, _BOUNDARY)
    return (
        Claim(
            key="E4.1",
            said="Operations of a step with 4 stages and 8 micro-batches",
            printed=say("{n}", n=(_STAGES * _MICROBATCHES, COUNT)),
            right=say("{n}", n=(2 * _STAGES * _MICROBATCHES, COUNT)),
            verdict="misleading",
            why="The claim counts the forward passes only. Each stage also runs a backward pass "
            "for every micro-batch.",
            sources=(_PIPELINE,),
        ),
        Claim(
            key="E4.2",
            said="Bytes sent between stages in a step",
            printed=f"{_SENT / GiB:.4f} GB",
            right=say(
                "{one} over one boundary, {all} over all three",
                one=(_SENT, BYTES),
                all=(everywhere, BYTES),
            ),
            verdict="wrong",
            why="The printed number is in GiB and labeled GB. It covers one boundary between "
            "stages out of three.",
            sources=(_PIPELINE, "narayanan2021"),
        ),
        Claim(
            key="E4.4",
            said="Computing time of a step",
            printed=f"{_PRINTED_COMPUTE * 1e3:.2f} ms",
            right=say("{t} at half of an H100's peak", t=(_COMPUTE, SECONDS)),
            verdict="wrong",
            why="The source does not say how it was computed. One microsecond per token and layer "
            "gives the printed digits.",
            sources=(_PIPELINE, "kaplan2020"),
        ),
        Claim(
            key="E4.5",
            said="Least bandwidth needed between stages",
            printed=f"{_SENT / GiB * 8 / _PRINTED_COMPUTE:.2f} Gb/s",
            right=say("{b}", b=(_SENT / _COMPUTE, LINK_SPEED)),
            verdict="wrong",
            why="The source divides the bytes by its own computing time, which is far too short. "
            "Pipeline parallelism needs the least bandwidth of all axes.",
            sources=(_PIPELINE, "narayanan2021"),
        ),
        Claim(
            key="E4.6",
            said="Activations that a stage holds at the peak",
            printed=f"{_MICROBATCHES * _BOUNDARY / MiB:.1f} MB",
            right=say(
                "{first} micro-batches on the first stage, {last} on the last, each with all "
                "tensors of its layers",
                first=(one_f_one_b_peak(0, _STAGES, _MICROBATCHES), COUNT),
                last=(one_f_one_b_peak(_STAGES - 1, _STAGES, _MICROBATCHES), COUNT),
            ),
            verdict="wrong",
            why="The claim counts only the tensor that is sent, once for every micro-batch of the "
            "step.",
            sources=(_PIPELINE, "korthikanti2022"),
        ),
        Claim(
            key="E4.7",
            said="Utilization of the stages, given the bubble",
            printed=say("{u}", u=(_MICROBATCHES / (_MICROBATCHES + _STAGES - 1), SHARE)),
            right=say("{u}", u=(1 - bubble_share(_STAGES, _MICROBATCHES), SHARE)),
            verdict="right",
            why="The bubble is counted as a share of the step here. As a share of the ideal time "
            "it is larger (next row).",
            sources=(_PIPELINE, "narayanan2021"),
        ),
    )


def _bubbles() -> tuple[Claim, ...]:
    four = 4
    return (
        Claim(
            key="E4.3",
            said="The bubble of 4 stages and 8 micro-batches",
            printed=say("{q}", q=(bubble_share(_STAGES, _MICROBATCHES), SHARE)),
            right=say(
                "{q} of the step, {r} over the ideal time",
                q=(bubble_share(_STAGES, _MICROBATCHES), SHARE),
                r=(bubble_over_ideal(_STAGES, _MICROBATCHES), SHARE),
            ),
            verdict="right",
            why="Both conventions are in use, so the convention must be stated with the number.",
            sources=(_PIPELINE, "narayanan2021"),
        ),
        Claim(
            key="E4.33",
            said="The bubble by the formula (N − 1)/N for N = 4 and N = 32 micro-batches",
            printed=say("{few} and {many}", few=(3 / 4, SHARE), many=(1 / 32, SHARE)),
            right=say(
                "{few} and {many} over the ideal time with 4 stages",
                few=(bubble_over_ideal(four, 4), SHARE),
                many=(bubble_over_ideal(four, 32), SHARE),
            ),
            verdict="wrong",
            why=say(
                "The formula has no stages in it and rises with the number of micro-batches. For "
                "32 it gives {q}; the source prints what is left to 100 %.",
                q=(31 / 32, SHARE),
            ),
            sources=(_PIPELINE, "narayanan2021"),
        ),
        Claim(
            key="E4.34",
            said="Share of the throughput lost with 4 stages and 4 micro-batches",
            printed="42 %",
            right=say("{q}", q=(bubble_share(four, four), SHARE)),
            verdict="condition",
            why="The printed value is a share of the step. The formula beside it in the source "
            "gives the bubble over the ideal time.",
            sources=(_PIPELINE, "narayanan2021"),
        ),
        Claim(
            key="S1.capstone",
            said="The bubble of 2 and of 4 stages with 4 micro-batches, in one table",
            printed=say(
                "{two} and {four}",
                two=(bubble_over_ideal(2, 4), SHARE),
                four=(bubble_share(4, 4), SHARE),
            ),
            right=say(
                "{two} and {four} of the step",
                two=(bubble_share(2, 4), SHARE),
                four=(bubble_share(4, 4), SHARE),
            ),
            verdict="wrong",
            why="The first value is over the ideal time and the second is a share of the step, in "
            "one column of one table.",
            sources=(_GUIDES, "narayanan2021"),
        ),
    )
