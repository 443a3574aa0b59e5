"""The composer of layers: what other layers than attention change, by the length of a sequence."""

from functools import partial

from engine.calculators.splitting_the_model.layer_mix import charts
from engine.calculators.splitting_the_model.layer_mix.inputs import PRESETS as PRESETS
from engine.calculators.splitting_the_model.layer_mix.inputs import Inputs as Inputs
from engine.calculators.splitting_the_model.layer_mix.inputs import model_of
from engine.calculators.splitting_the_model.layer_mix.result import Result as Result
from engine.calculators.splitting_the_model.layer_mix.result import solve as solve
from engine.core.outputs import Presenter, Views
from engine.core.text import say
from engine.core.units import BYTES, SHARE
from engine.core.views import Challenge, Code, Condition
from engine.form.run.prediction_text import value_with_range
from engine.run.exporters.hybrid_pattern import hybrid_pattern

TITLE = "Layers of several kinds"
QUESTION = "What do layers other than full attention save, and from which length on?"
HEADLINE = "saved"
_LONG = 262_144
_SHARE, _MOST = 0.5, 10e9
_FULL = 8


def views(inputs: Inputs, result: Result) -> Views:
    """Return the views, in the order of the page."""
    present = Presenter(result, inputs)
    evidence = result.plan.evidence
    return {
        "over_length": partial(charts.over_length, present, result),
        **present.values(
            "parameters", "twin_parameters", "operations", "saved", "pairs", "cache", "twin_cache"
        ),
        "strip": partial(charts.strip, inputs, result),
        "by_kind": partial(charts.by_kind, result),
        "cache_curve": partial(charts.cache_curve, present, result),
        "rate": value_with_range(present, "rate", evidence),
        "step": value_with_range(present, "step", evidence),
        "faster": present.value("faster"),
        "plan": charts.plan_badge(present, result),
        "rate_curve": partial(charts.rate_curve, present, result),
        "exchanges": partial(charts.exchange_table, result),
        "published": partial(charts.published_table, result),
        "pattern": partial(_pattern, inputs, result),
        "challenge": partial(_challenge, inputs, result),
    }


def _pattern(inputs: Inputs, result: Result) -> Code:
    """Return the order of the layers for Megatron-LM, or what it has no letter for."""
    stages = [stage.layers for stage in result.plan.stages]
    try:
        pattern = hybrid_pattern(model_of(inputs), stages)
    except ValueError as missing:
        text = f"# --hybrid-layer-pattern has no letter for {missing}."
    else:
        lines = [
            "pretrain_hybrid.py",
            f"--hybrid-layer-pattern '{pattern}'",
            "--spec megatron.core.models.hybrid.hybrid_layer_specs hybrid_stack_spec",
            f"--pipeline-model-parallel-size {len(stages)}",
            f"--context-parallel-size {result.plan.run.plan.context_parallel}",
        ]
        text = " \\\n    ".join(lines)
    return Code(title="The order of the layers, for Megatron-LM", language="bash", text=text)


def _challenge(inputs: Inputs, result: Result) -> Challenge:
    counts = dict(result.counts)
    return Challenge(
        title="Challenge: a Llama for 262,144 tokens",
        goal="Keep the sizes of Llama 3 70B, give up full attention where you must, and make a "
        "sequence of 262,144 tokens affordable.",
        conditions=(
            Condition(
                text="the sizes of Llama 3 70B, 262,144 tokens",
                met=inputs.model == "llama-3-70b" and inputs.sequence_length == _LONG,
            ),
            Condition(
                text=f"at least {_FULL} layers of full attention", met=counts["full"] >= _FULL
            ),
            Condition(
                text=say(
                    "at most {share} of the operations go between tokens", share=(_SHARE, SHARE)
                ),
                met=result.pairs <= _SHARE,
            ),
            Condition(
                text=say("a sequence leaves at most {most}", most=(_MOST, BYTES)),
                met=result.cache <= _MOST,
            ),
        ),
        hints=(
            "Windows and states both make most layers independent of the length. Which of them "
            "costs more memory?",
            "What is left grows with the number of full layers alone: count how many there may be.",
        ),
        start={"model": "llama-3-70b", "sequence_length": _LONG, "full": 1, "linear": 0},
        solution={
            "model": "llama-3-70b",
            "sequence_length": _LONG,
            "full": 1,
            "windowed": 9,
            "linear": 0,
        },
    )
