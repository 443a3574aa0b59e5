"""The recompute board: which saved tensors of a layer to keep, and which to recompute."""

from functools import partial

from engine.calculators.one_gpu.recompute_board import board, charts, code
from engine.calculators.one_gpu.recompute_board.inputs import Inputs as Inputs
from engine.calculators.one_gpu.recompute_board.inputs import keep_inputs
from engine.calculators.one_gpu.recompute_board.result import Result as Result
from engine.calculators.one_gpu.recompute_board.result import solve as solve
from engine.core.outputs import Presenter, Views
from engine.core.views import Challenge, Condition
from engine.form.adjusted_inputs import with_changes
from engine.formulas.recomputation import KEPT_BY_LAYERS, REPEATED_SHARE

TITLE = "The board of saved tensors"
QUESTION = "Which tensors of a layer are worth keeping, and which are cheaper to make again?"
EQUATIONS = (REPEATED_SHARE, KEPT_BY_LAYERS)
PRESETS = {
    "Llama 3 8B: keep every second product (torchtitan)": keep_inputs(
        "query", "value", "gate", "normalizer", "attended"
    ),
    "Llama 3 8B: keep the inputs only (full)": keep_inputs(),
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
    present = Presenter(result, inputs, equations=EQUATIONS)
    return {
        "fits": with_changes(board.fits_badge(present, result), board.change_notes(inputs)),
        "board": partial(board.board, result),
        **present.values("kept", "extra", "light_time", "total", "num_sets"),
        "over_step": partial(charts.memory_over_step, result),
        "pareto": partial(charts.pareto, present, result),
        "policies": partial(charts.policy_bars, result),
        "lengths": partial(charts.memory_by_length, inputs, result),
        **present.values("gpt_none", "gpt_selective", "gpt_full"),
        "tensors": partial(board.tensor_table, result),
        "policy": partial(code.pytorch_policy, result),
        "megatron": partial(code.megatron_options, result),
        "challenge": _challenge(inputs, result),
    }


def _challenge(inputs: Inputs, result: Result) -> Challenge:
    wanted = ("llama-3-8b", "H100-SXM", 64, 32_768, 1, 1, "fsdp", True)
    setting = (
        inputs.model,
        inputs.gpu,
        inputs.world_size,
        inputs.sequence_length,
        inputs.micro_batch_size,
        inputs.tensor_parallel,
        inputs.framework,
        inputs.flash_attention,
    )
    start = {"sequence_length": 32_768, "micro_batch_size": 1, "world_size": 64} | keep_inputs()
    return Challenge(
        title="Challenge: 32,768 tokens, and little computed twice",
        goal="Llama 3 8B on 64 H100, one sequence of 32,768 tokens on each. Full recomputation "
        "fits, and keeping every second product does not. Find a set that fits and repeats as "
        "little as possible.",
        conditions=(
            Condition(
                text="Llama 3 8B on 64 H100, one sequence of 32,768 tokens, FSDP, no tensor "
                "parallelism, fused attention",
                met=setting == wanted,
            ),
            Condition(text="the fullest moment fits", met=result.fit.verdict == "fits"),
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
        solution={**start, **keep_inputs("normalizer", "attended")},
    )
