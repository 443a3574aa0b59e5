"""The waterfall of losses, the next question, and what follows from the readings."""

from engine.basis.text import Text, say
from engine.basis.units import SHARE, Share
from engine.basis.views import (
    Axis,
    Badge,
    Bar,
    Bars,
    Receipt,
    Segment,
    Value,
)
from engine.calculators.whole_runs.profile_tree.branches import guilty, top
from engine.simulate.peak_account import Measures, healthy
from engine.calculators.whole_runs.profile_tree.rules import RULES
from engine.form.commands.all import COMMANDS
from engine.form.commands.command import LAYERS

_PARTS = (
    ("mfu", "achieved", "compute"),
    ("kernels", "kernels", "accent"),
    ("slowed", "clock", "muted"),
    ("repeated", "computed twice", "activations"),
    ("exposed", "exposed communication", "communication"),
    ("bubble", "bubble", "pipeline"),
    ("gaps", "waiting for the CPU", "ink"),
    ("loading", "waiting for data", "memory"),
)


def following(m: Measures) -> Badge:
    """Return the layer that is guilty and what to measure next."""
    if m.clashes:
        words = "Readings clash: {c} of the step is left to compute at {k} of the clock, "
        words += "which is less than an MFU of {m} needs. Measure again over the same steps."
        sentence = say(words, c=(m.computing, SHARE), k=(m.clock, SHARE), m=(m.mfu, SHARE))
        return Badge(text="Measure again", sentence=sentence)
    found = guilty(m)
    if not found:
        words = "No limit is broken. What is lost, {q} of the peak, is spread over kernels."
        return Badge(text="Healthy", sentence=say(words, q=(1 - m.mfu, SHARE)), color="compute")
    rule = RULES[found[0]]
    words = f"{{q}}: {rule.cause} Next: {COMMANDS[rule.tool].name}."
    return Badge(
        text=LAYERS[rule.layer],
        sentence=say(words, q=(rule.loss(m), SHARE)),
        color="communication" if top(found[0]) == "exposed" else "ink",
    )


def waterfall(m: Measures) -> Bars:
    """Return where the peak goes: the reader's job, and a healthy one that was simulated."""
    well = healthy()
    total = sum(float(getattr(m, name)) for name, _, _ in _PARTS)
    return Bars(
        title="From peak to achieved",
        axis=Axis(label="share of the peak", quantity=SHARE, low=0.0, high=max(1.0, total) * 1.02),
        bars=(
            Bar(
                key="yours",
                label="your job",
                segments=tuple(
                    Segment(key=name, label=label, value=float(getattr(m, name)), color=color)
                    for name, label, color in _PARTS
                ),
            ),
            Bar(
                key="healthy",
                label="a healthy job, simulated",
                segments=tuple(
                    Segment(
                        key=name, label=label, value=float(getattr(well, name, 0.0)), color=color
                    )
                    for name, label, color in _PARTS
                ),
            ),
        ),
        caption="Lost time counts with all it could have computed.",
    )


def _receipt(*assumptions: Text) -> Receipt:
    return Receipt(
        basis="modelled",
        assumptions=(*assumptions, "All readings are of the same steps."),
    )


def values(m: Measures) -> dict[str, Value]:
    """Return what follows from the readings."""
    found = guilty(m)
    loss = RULES[found[0]].loss(m) if found else 0.0
    return {
        "computing": Value(
            label="Computing",
            value=m.computing,
            quantity=SHARE,
            receipt=_receipt("The step less waiting, gaps, bubble and exposed communication."),
            note="of the step",
            color="compute",
        ),
        "efficiency": Value(
            label="Of the peak while computing",
            value=m.efficiency,
            quantity=SHARE,
            receipt=_receipt(
                "MFU and what is computed twice, over the computing share and the clock. "
                "Repeating the whole forward pass adds a third."
            ),
        ),
        "repaired": Value(
            label="MFU without the first cause",
            value=_repaired(m, found[0] if found else "", loss),
            quantity=SHARE,
            receipt=_receipt(
                "The step shorter by what the first cause takes; of slow kernels or a low clock, "
                "the loss comes back as achieved. At most 100 %."
            ),
            note=say("it takes {q}", q=(loss, SHARE)) if found else "nothing found",
        ),
    }


def _repaired(m: Measures, key: str, loss: Share) -> Share:
    if key and top(key) in ("efficiency", "clock"):
        return min(1.0, m.mfu + loss)
    return min(1.0, m.mfu / max(1 - loss, m.mfu))
