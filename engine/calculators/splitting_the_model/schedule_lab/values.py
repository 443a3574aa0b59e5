"""The numbers of the schedule lab, each with its receipt."""

from collections.abc import Mapping

from engine.basis.equation import Equation
from engine.basis.text import Text, say
from engine.basis.units import BYTES, COUNT, SECONDS, SHARE, Quantity, Seconds
from engine.basis.views import Formula, Receipt, Value
from engine.calculators.splitting_the_model.schedule_lab.inputs import Inputs
from engine.calculators.splitting_the_model.schedule_lab.model import Played
from engine.formulas import pipeline

Symbols = Mapping[str, tuple[float, Quantity]]
# Their idle time has this closed form; what it holds for is in its docstring.
IDLE: Mapping[str, Equation] = {
    "gpipe": pipeline.ONE_F_ONE_B_IDLE,
    "one_f_one_b": pipeline.ONE_F_ONE_B_IDLE,
    "interleaved": pipeline.ONE_F_ONE_B_IDLE,
    "breadth_first": pipeline.ONE_F_ONE_B_IDLE,
    "zb_h1": pipeline.ZB_H1_IDLE,
    "zb_h2": pipeline.ZB_H2_IDLE,
    "dualpipe": pipeline.DUALPIPE_IDLE,
    "dualpipe_v": pipeline.DUALPIPE_V_IDLE,
}
EQUATIONS = (
    pipeline.BUBBLE_CONVERSION,
    pipeline.ONE_F_ONE_B_IDLE,
    pipeline.ZB_H1_IDLE,
    pipeline.ZB_H2_IDLE,
    pipeline.DUALPIPE_IDLE,
    pipeline.DUALPIPE_V_IDLE,
)
_LINKS = {
    "p": "pipeline_parallel",
    "v": "num_chunks",
    "F": "forward",
    "I": "backward_input",
    "W": "backward_weight",
    "O": "overlapped",
}
_PLAYED = "Counted in the step that the timeline shows, from its first to its last micro-batch."


def closed_form(inputs: Inputs, played: Played) -> Seconds | None:
    """Return the idle time by the published formula; None if there is none."""
    p, v = played.setting.pipeline_parallel, played.setting.num_chunks
    one, back, weight = inputs.forward, inputs.backward_input, inputs.backward_weight
    whole = inputs.overlapped * (one + back + weight)
    again = one if inputs.recompute else 0.0
    back, whole = back + again, whole + again
    if played.name in ("gpipe", "one_f_one_b", "interleaved", "breadth_first"):
        return pipeline.one_f_one_b_idle(p, one, back, weight, v)
    if played.name == "zb_h1":
        return pipeline.zb_h1_idle(p, one, back, weight)
    if played.name == "zb_h2":
        return pipeline.zb_h2_idle(p, one, back, weight)
    if played.name == "dualpipe":
        return pipeline.dualpipe_idle(p, whole, back + weight, weight)
    if played.name == "dualpipe_v":
        return pipeline.dualpipe_v_idle(p, whole, back + weight, weight)
    return None


def symbols(inputs: Inputs, played: Played, idle: Seconds) -> Symbols:
    """Return the numbers of every equation of the lab."""
    again = inputs.forward if inputs.recompute else 0.0
    back = inputs.backward_input + again
    whole = inputs.forward + inputs.backward_input + inputs.backward_weight
    return {
        "Ti": (idle, SECONDS),
        "p": (played.setting.pipeline_parallel, COUNT),
        "v": (played.setting.num_chunks, COUNT),
        "F": (inputs.forward, SECONDS),
        "I": (back, SECONDS),
        "W": (inputs.backward_weight, SECONDS),
        "D": (back + inputs.backward_weight, SECONDS),
        "O": (inputs.overlapped * whole + again, SECONDS),
        "q": (played.share, SHARE),
        "o": (played.over, SHARE),
    }


def formula(inputs: Inputs, played: Played) -> Formula:
    """Return the published closed form with the reader's numbers, or how the shares convert."""
    found = closed_form(inputs, played)
    equation = pipeline.BUBBLE_CONVERSION if found is None else IDLE[played.name]
    numbers = symbols(inputs, played, found or 0.0)
    return Formula(
        title="The closed form, where one is published",
        equation=equation,
        symbols={key: numbers[key] for key in equation.symbols},
        inputs={key: name for key, name in _LINKS.items() if key in equation.symbols},
    )


def values(inputs: Inputs, played: Played) -> dict[str, Value]:
    """Return the numbers in the order of the page."""
    counted = Receipt(basis="simulated", assumptions=_assumptions(played))
    numbers = symbols(inputs, played, 0.0)
    converted = Receipt(
        basis="simulated",
        equation=pipeline.BUBBLE_CONVERSION,
        symbols={key: numbers[key] for key in ("q", "o")},
        assumptions=_assumptions(played),
    )
    return {
        "bubble_share": Value(
            label="Bubble, share of the step",
            value=played.share,
            quantity=SHARE,
            receipt=converted,
            note="all stages together",
        ),
        "bubble_over_ideal": Value(
            label="Bubble, over the ideal",
            value=played.over,
            quantity=SHARE,
            receipt=counted,
            note="the same idle time",
        ),
        "idle": _idle(inputs, played),
        "step": Value(
            label="Step",
            value=played.step,
            quantity=SECONDS,
            receipt=counted,
            note=_length_note(inputs),
        ),
        **_memory(inputs, played, counted),
        **_messages(inputs, played, counted),
    }


def _assumptions(played: Played) -> tuple[Text, ...]:
    reason = played.setting.reason
    return (_PLAYED, *((f"Played with other numbers than set: {reason}.",) if reason else ()))


def _length_note(inputs: Inputs) -> str:
    if inputs.synchronized:
        return "from the first pass to the last"
    return "of the stage that takes longest"


def _idle(inputs: Inputs, played: Played) -> Value:
    """Return the idle time with its closed form, where that gives the same."""
    idle, published = played.share * played.step, closed_form(inputs, played)
    agrees = published is not None and abs(published - idle) <= 1e-9 * played.step
    assumptions = [*_assumptions(played), "The mean over the stages."]
    note: Text = "no closed form is published"
    if published is not None:
        note = (
            "the closed form gives the same"
            if agrees
            else say("the closed form would say {t}", t=(published, SECONDS))
        )
        if not agrees:
            assumptions.append(
                "The closed form holds for stages alike, free messages, enough micro-batches and "
                "the times that its source assumes."
            )
    equation = IDLE[played.name] if agrees else None
    numbers = symbols(inputs, played, idle)
    return Value(
        label="Idle time per stage",
        value=idle,
        quantity=SECONDS,
        receipt=Receipt(
            basis="simulated",
            equation=equation,
            symbols={key: numbers[key] for key in equation.symbols} if equation else {},
            inputs={k: n for k, n in _LINKS.items() if equation and k in equation.symbols},
            assumptions=tuple(assumptions),
        ),
        note=note,
    )


def _memory(inputs: Inputs, played: Played, counted: Receipt) -> dict[str, Value]:
    per_stage = say(
        "each {b}, a stage's share of the whole model's",
        b=(inputs.activation_size / played.setting.pipeline_parallel, BYTES),
    )
    copies = round(played.weights * played.setting.pipeline_parallel / inputs.weight_size)
    return {
        "peak": Value(
            label="Most micro-batches held",
            value=played.peak,
            quantity=COUNT,
            receipt=counted,
            note="on the fullest stage",
            color="activations",
        ),
        "activations": Value(
            label="Their activations",
            value=played.activations,
            quantity=BYTES,
            receipt=Receipt(
                basis="simulated",
                assumptions=(
                    "Held from the start of the forward pass to the end of the backward pass, both "
                    "halves of it.",
                    "The fullest stage.",
                ),
                sources=("korthikanti2022",),
            ),
            note=per_stage,
            color="activations",
        ),
        "copies": Value(
            label="Copies of the weights",
            value=copies,
            quantity=COUNT,
            receipt=Receipt(
                basis="definition",
                assumptions=("Of its part of the model, as the schedule's file declares.",),
                sources=("dualpipe",),
            ),
            note="one is one part in p of the model",
            color="parameters",
        ),
        "weights": Value(
            label="Weights per stage",
            value=played.weights,
            quantity=BYTES,
            receipt=Receipt(
                assumptions=("The weights of the whole model over the stages, times the copies.",)
            ),
            note="gradients and optimizer come on top",
            color="parameters",
        ),
    }


def _messages(inputs: Inputs, played: Played, counted: Receipt) -> dict[str, Value]:
    return {
        "messages": Value(
            label="Messages",
            value=played.messages,
            quantity=COUNT,
            receipt=counted,
            note="between all stages, both ways",
            color="communication",
        ),
        "message_bytes": Value(
            label="Bytes between stages",
            value=played.messages * inputs.message_size,
            quantity=BYTES,
            receipt=counted,
            note="in a step",
            color="communication",
        ),
    }
