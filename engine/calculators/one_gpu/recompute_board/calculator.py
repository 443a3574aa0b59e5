"""The board of saved tensors: which of a layer's tensors to keep, and which to make again."""

from functools import partial

from engine.calculators.one_gpu.recompute_board import board, charts, code
from engine.calculators.one_gpu.recompute_board.inputs import Inputs as Inputs
from engine.calculators.one_gpu.recompute_board.inputs import keeping
from engine.calculators.one_gpu.recompute_board.result import Result as Result
from engine.calculators.one_gpu.recompute_board.result import solve as solve
from engine.core.outputs import Teller, Views
from engine.core.views import Challenge, Condition
from engine.form.adjusted_inputs import told
from engine.formulas.recomputation import KEPT_BY_LAYERS, REPEATED_SHARE

TITLE = "The board of saved tensors"
QUESTION = "Which tensors of a layer are worth keeping, and which are cheaper to make again?"
EQUATIONS = (REPEATED_SHARE, KEPT_BY_LAYERS)
PRESETS = {
    "Llama 3 8B: keep every second product (torchtitan)": keeping(
        "query", "value", "gate", "normalizer", "attended"
    ),
    "Llama 3 8B: keep the inputs only (full)": keeping(),
    "Llama 3 70B, 64 GPUs, TP 8": {
        "model": "llama-3-70b",
        "world_size": 64,
        "tensor_parallel": 8,
        "framework": "megatron",
        "micro_batch_size": 1,
    },
    "GPT 22B on 8 A100, as in 2022": {
        "model": "gpt-22b",
        "gpu": "A100-SXM-80GB",
        "sequence_length": 2048,
        "micro_batch_size": 4,
        "tensor_parallel": 8,
        "framework": "megatron",
        "flash_attention": False,
        "keep_softmax": False,
        "keep_score_mask": False,
        "keep_dropped_scores": False,
    },
}
_PRICE = 0.15


def views(inputs: Inputs, result: Result) -> Views:
    """Return the views, in the order of the page."""
    tell = Teller(result, inputs, equations=EQUATIONS)
    return {
        "fits": told(board.fits(tell, result), board.changes(inputs)),
        "board": partial(board.board, result),
        **tell.values("kept", "extra", "light_time", "total", "num_sets"),
        "over_step": partial(charts.over_step, result),
        "pareto": partial(charts.pareto, tell, result),
        "policies": partial(charts.policies, result),
        "lengths": partial(charts.lengths, inputs, result),
        **tell.values("gpt_none", "gpt_selective", "gpt_full"),
        "tensors": partial(board.tensors, result),
        "policy": partial(code.policy, result),
        "megatron": partial(code.megatron, result),
        "challenge": _challenge(inputs, result),
    }


def _challenge(inputs: Inputs, result: Result) -> Challenge:
    wanted = ("llama-3-8b", "H100-SXM", 64, 32_768, 1, 1, "fsdp", True)
    given = (
        inputs.model,
        inputs.gpu,
        inputs.world_size,
        inputs.sequence_length,
        inputs.micro_batch_size,
        inputs.tensor_parallel,
        inputs.framework,
        inputs.flash_attention,
    )
    start = {"sequence_length": 32_768, "micro_batch_size": 1, "world_size": 64} | keeping()
    return Challenge(
        title="Challenge: 32,768 tokens, and little computed twice",
        goal="Llama 3 8B on 64 H100, one sequence of 32,768 tokens on each. Full recomputation "
        "fits, and keeping every second product does not. Find a set that fits and repeats as "
        "little as possible.",
        conditions=(
            Condition(
                text="Llama 3 8B on 64 H100, one sequence of 32,768 tokens, FSDP, no tensor "
                "parallelism, fused attention",
                met=given == wanted,
            ),
            Condition(text="the fullest moment fits", met=result.total <= result.usable),
            Condition(
                text=f"at most {100 * _PRICE:.0f} % of the step's operations run again",
                met=result.extra <= _PRICE,
            ),
        ),
        hints=(
            "You have very little room. Begin with everything dropped.",
            "Compare the tensors by operations per byte. The table lists both.",
            "At this length the attention is the most expensive operator of the layer.",
        ),
        start=start,
        solution={**start, **keeping("normalizer", "attended")},
    )
