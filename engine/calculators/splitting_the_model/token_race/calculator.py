"""Token race: a prompt and its tokens on several GPUs, by gathered weights and tensor parallel."""

from collections.abc import Mapping
from functools import partial

from engine.calculators.splitting_the_model.token_race import charts
from engine.calculators.splitting_the_model.token_race.inputs import Inputs as Inputs
from engine.calculators.splitting_the_model.token_race.inputs import Result as Result
from engine.calculators.splitting_the_model.token_race.inputs import solve as solve
from engine.core.inputs import Scalar
from engine.core.outputs import Teller, Views
from engine.core.views import Badge, Challenge, Condition
from engine.draw.token_race import race_scene

TITLE = "A prompt and its tokens, by two ways"
QUESTION = "Which is faster to generate text on several GPUs: ZeRO-3 or tensor parallelism?"
EQUATIONS = ()
PRESETS = {
    "One sequence": {"batch": 1},
    "512 short prompts": {"batch": 512, "prompt": 512},
    "A long prompt": {"batch": 1, "prompt": 32_768},
    "Two nodes": {"ranks": "16"},
}
START: Mapping[str, Scalar] = {
    "model": "llama-3-70b",
    "machine": "dgx-h100",
    "ranks": "8",
    "batch": 8,
    "prompt": 1024,
}
SOLUTION: Mapping[str, Scalar] = {**START, "batch": 64}


def views(inputs: Inputs, result: Result) -> Views:
    """Return the race, the numbers and the curves."""
    tell = Teller(result, inputs, equations=EQUATIONS)
    return {
        "scene": partial(race_scene, {"zero": result.zero, "tensor": result.tensor}, inputs.prompt),
        **tell.values("tensor_token", "reading", "zero_token", "faster"),
        "regime": _regime(tell, result),
        **tell.values("tensor_prompt", "zero_prompt", "tensor_rate", "zero_rate"),
        **tell.values("tensor_sent", "zero_sent", "tensor_held", "zero_held"),
        "parts": partial(charts.parts, result),
        "rates": partial(charts.rates, inputs, result),
        "prompts": partial(charts.prompts, inputs, result),
        "challenge": partial(_challenge, inputs, result),
    }


def _regime(tell: Teller, result: Result) -> Badge:
    if result.zero_held > result.usable:
        return Badge(
            text="Does not fit",
            sentence=tell.say(
                "With gathered weights a GPU would need {zero_held}, with tensor parallelism "
                "{tensor_held}; it has {usable}."
            ),
            color="bad",
        )
    if result.zero_prompt < result.tensor_prompt:
        return Badge(
            text="The prompt: gathered weights. The tokens: tensor parallel",
            sentence=tell.say(
                "The prompt takes {zero_prompt} against {tensor_prompt}, a new token {zero_token} "
                "against {tensor_token}."
            ),
            color="parameters",
        )
    return Badge(
        text="Tensor parallel for both",
        sentence=tell.say(
            "The prompt takes {tensor_prompt} against {zero_prompt}, a new token {tensor_token} "
            "against {zero_token}."
        ),
        color="activations",
    )


def _challenge(inputs: Inputs, result: Result) -> Challenge:
    same = all(getattr(inputs, key) == START[key] for key in ("model", "machine", "prompt"))
    return Challenge(
        title="Challenge: where gathering weights wins",
        goal="Llama 3 70B on DGX H100, prompts of 1,024 tokens: find a batch for which the prompt "
        "is faster with gathered weights by a quarter, and which fits.",
        conditions=(
            Condition(text="Llama 3 70B on DGX H100, prompts of 1,024 tokens", met=same),
            Condition(text="on one node of eight GPUs", met=inputs.ranks == "8"),
            Condition(
                text="the prompt takes at most four fifths of the time",
                met=result.zero_prompt <= 0.8 * result.tensor_prompt,
            ),
            Condition(text="a GPU holds weights and caches", met=result.zero_held <= result.usable),
        ),
        hints=(
            "Gathering weights takes as long for one prompt as for many.",
            "Each GPU should have several prompts of its own.",
        ),
        start=START,
        solution=SOLUTION,
    )
