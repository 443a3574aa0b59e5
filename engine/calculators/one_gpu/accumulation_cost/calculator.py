"""Accumulation at scale: memory, traffic and speed of a GPU by the number of micro-batches."""

from functools import partial

from engine.calculators.one_gpu.accumulation_cost import charts
from engine.calculators.one_gpu.accumulation_cost.inputs import Inputs as Inputs
from engine.calculators.one_gpu.accumulation_cost.result import MODELLED
from engine.calculators.one_gpu.accumulation_cost.result import Result as Result
from engine.calculators.one_gpu.accumulation_cost.result import solve as solve
from engine.core.inputs import Scalar
from engine.core.outputs import Presenter, Views
from engine.core.views import Badge, Challenge, Condition
from engine.form.run.prediction_text import value_with_range
from engine.formulas.volumes import ZERO_BYTES
from engine.simulate.data_parallel.accumulation import TIMED_AS

TITLE = "Accumulation at scale"
QUESTION = "What do more micro-batches save, and what do they not change?"
EQUATIONS = (ZERO_BYTES,)
PRESETS = {
    "Llama 3 8B on 64 H100, 4 million tokens a step": {"num_microbatches": 16},
    "The same with FSDP as it comes": {"num_microbatches": 16, "scheme": "fsdp"},
    "5B on 64 H200, DDP that forgets no_sync": {
        "model": "gpt-3-5b",
        "gpu": "H200-SXM",
        "scheme": "ddp_sync",
    },
    "Llama 2 13B, FSDP, slow network": {
        "model": "llama-2-13b",
        "num_microbatches": 16,
        "scheme": "fsdp",
        "port": 12.5e9,
    },
}
_WANTED = 4_194_304


def views(inputs: Inputs, result: Result) -> Views:
    """Return the views, in the order of the page."""
    present = Presenter(result, inputs, equations=EQUATIONS)
    return {
        "fits": _fits(present, result),
        "sent": present.value("sent", symbols={"n": "world_size"}),
        **present.values("per_token", "collectives", "tokens", "held", "at_once"),
        "token_rate": value_with_range(
            present,
            "token_rate",
            result.evidence,
            note=f"timed as {TIMED_AS[inputs.scheme]}" if inputs.scheme in TIMED_AS else "",
            assumes=(MODELLED,),
        ),
        **present.values("gained"),
        "memory": partial(charts.memory, inputs, result),
        "volume": partial(charts.volume, inputs, result),
        "speed": partial(charts.speeds, inputs, result),
        "pipeline": partial(charts.pipeline, present, inputs, result),
        **present.values("bubble", "in_flight"),
        "schemes": partial(charts.schemes, result),
        "challenge": _challenge(inputs, result),
    }


def _fits(present: Presenter, result: Result) -> Badge:
    words = "In micro-batches the fullest GPU needs {held}, in one batch {at_once}; {usable} may "
    words += "be filled."
    if result.held > result.usable:
        return Badge(text="Out of memory", sentence=present.say(words), color="buffers")
    if result.at_once > result.usable:
        return Badge(
            text="Fits only in micro-batches", sentence=present.say(words), color="activations"
        )
    return Badge(text="Fits both ways", sentence=present.say(words), color="activations")


def _challenge(inputs: Inputs, result: Result) -> Challenge:
    setting = (inputs.model, inputs.gpu, inputs.world_size, inputs.sequence_length)
    start: dict[str, Scalar] = {
        "world_size": 64,
        "micro_batch_size": 1,
        "num_microbatches": 1,
        "scheme": "zero2",
        "port": 12.5e9,
    }
    return Challenge(
        title="Challenge: 4 million tokens on a slow network",
        goal="64 H100 in 8 nodes with one port of 100 Gb/s for each GPU must take steps of "
        "4,194,304 tokens with Llama 3 8B. Find a scheme that fits and is fast.",
        conditions=(
            Condition(
                text="Llama 3 8B, 64 H100, 4,096 tokens, ports of 100 Gb/s",
                met=setting == ("llama-3-8b", "H100-SXM", 64, 4096) and inputs.port == 12.5e9,
            ),
            Condition(
                text="a step has 4,194,304 tokens", met=inputs.world_size * result.own == _WANTED
            ),
            Condition(text="it fits", met=result.held <= result.usable),
            Condition(
                text="each GPU sends at most 1 MB for each of its tokens",
                met=result.per_token <= 1e6,
            ),
        ),
        hints=(
            "The tokens of a step are the product of GPUs, micro-batch, micro-batches and length.",
            "Three schemes reduce gradients after every micro-batch; their bytes grow with it.",
            "One scheme reduces once and keeps little: its optimizer states are sharded.",
        ),
        start=start,
        solution={**start, "scheme": "zero1", "num_microbatches": 16},
    )
