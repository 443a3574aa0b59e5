"""What a widely published gradient sync calculator prints, beside ours."""

from engine.calculators.moving_bytes.gradient_sync.inputs import Inputs
from engine.calculators.moving_bytes.gradient_sync.result import Result
from engine.core.numbers import significant
from engine.core.outputs import Teller
from engine.core.text import Text, as_printed, say
from engine.core.units import SECONDS, TOKENS, GiB
from engine.core.views import Published, Table
from engine.form.published_sync_calculator import SOURCE, printed


def digits(result: Result) -> dict[str, str]:
    """Return its outputs for the reader's job."""
    job = result.job
    return printed(job.parameters, job.element, job.wires.world_size, job.wires.node)


def ring_note(result: Result) -> Published:
    """Return what it prints for the ring, for the receipt."""
    more = significant((GiB / 1e9 - 1) * 100, 2)
    return Published(
        text=f"a published calculator prints {digits(result)['ring']}",
        reason=f"It divides GiB by GB/s; the right time is {more} % more.",
        source=SOURCE,
        claim="E3.2",
    )


def table(tell: Teller, inputs: Inputs, result: Result) -> Table:
    """Return the published digits beside the right ones with the reason; empty unless asked for."""
    if not inputs.published:
        return Table(title="", columns=(), rows=())
    theirs = digits(result)
    return Table(
        title="A published calculator's digits beside ours",
        columns=("Output", "It prints", "Right", "Why they differ"),
        rows=tuple(
            (label, as_printed(theirs[key]), right, why)
            for key, label, right, why in _rows(tell, result)
        ),
        caption="Its column follows its own arithmetic with your inputs. Its compute time is taken "
        "as printed, for its formula cannot be recovered from its outputs.",
    )


def _rows(tell: Teller, result: Result) -> tuple[tuple[str, str, Text, Text], ...]:
    tokens = round(result.printed_tokens), TOKENS
    artifact = "an artifact of its compute time"
    return (
        ("gradient", "Gradient size", tell.say("{gradient_size}"), "GiB printed as GB"),
        (
            "ring",
            "All-reduce, ring",
            say("{t}", t=(result.ring_time, SECONDS)),
            "GiB divided by GB/s, no latency",
        ),
        (
            "tree",
            "All-reduce, tree",
            say("{t}", t=(result.tree_time, SECONDS)),
            "the same unit error; the tree's lower latency is missing",
        ),
        (
            "compute",
            "Compute",
            tell.say("{compute_time}"),
            say("what it prints is the time of {n} tokens", n=tokens),
        ),
        ("step", "Step", tell.say("{step_time}"), "it adds both times; overlap is ignored"),
        ("overhead", "Communication share", tell.say("{exposed_share}"), artifact),
        ("efficiency", "GPU efficiency", tell.say("{efficiency}"), artifact),
        (
            "bandwidth",
            "Least bandwidth",
            tell.say("{required_bandwidth}"),
            "it forgets the factor 2(n − 1)/n and hides nothing behind the backward pass",
        ),
        (
            "upgrade",
            "Suggested upgrade",
            "none",
            "counted in hundreds, rounded up, then multiplied by 400: a slip",
        ),
    )
