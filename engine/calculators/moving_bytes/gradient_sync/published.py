"""Outputs of a widely published gradient sync calculator beside ours."""

from engine.calculators.moving_bytes.gradient_sync.inputs import Inputs
from engine.calculators.moving_bytes.gradient_sync.result import Result
from engine.core.numbers import format_significant
from engine.core.outputs import Presenter
from engine.core.text import Text, say, with_published_digits
from engine.core.units import SECONDS, TOKENS, GiB
from engine.core.views import Published, Table
from engine.form.published_sync_calculator import SOURCE, published_outputs


def published_values(result: Result) -> dict[str, str]:
    """Return its outputs for the reader's job."""
    job = result.job
    line = job.port * job.ports_per_node
    return published_outputs(job.parameters, job.element, job.world_size, line)


def ring_note(result: Result) -> Published:
    """Return the published calculator's ring time, for the receipt."""
    more = format_significant((GiB / 1e9 - 1) * 100, 2)
    return Published(
        text=f"a published calculator prints {published_values(result)['ring']}",
        reason=f"It divides GiB by GB/s; at line rate the right time is {more} % more.",
        source=SOURCE,
        claim="E3.2",
    )


def table(present: Presenter, inputs: Inputs, result: Result) -> Table:
    """Return the table of published and correct values with reasons; empty unless requested."""
    if not inputs.published:
        return Table(title="", columns=(), rows=())
    theirs = published_values(result)
    return Table(
        title="A published calculator's digits beside ours",
        columns=("Output", "It prints", "Right", "Why they differ"),
        rows=tuple(
            (label, with_published_digits(theirs[key]), right, why)
            for key, label, right, why in _rows(present, result)
        ),
        caption="Its column follows its own arithmetic with your inputs. Its compute time is taken "
        "as printed, for its formula cannot be recovered from its outputs.",
    )


def _rows(present: Presenter, result: Result) -> tuple[tuple[str, str, Text, Text], ...]:
    tokens = round(result.printed_tokens), TOKENS
    artifact = "an artifact of its compute time"
    return (
        ("gradient", "Gradient size", present.say("{gradient_size}"), "GiB printed as GB"),
        (
            "ring",
            "All-reduce, ring",
            say("{t}", t=(result.ring_time, SECONDS)),
            "GiB divided by GB/s, no latency; at line rate, as is the time beside it",
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
            present.say("{compute_time}"),
            say("what it prints is the time of {n} tokens", n=tokens),
        ),
        (
            "step",
            "Step",
            present.say("{step_time}"),
            "it adds both times; overlap, optimizer and host are ignored",
        ),
        ("overhead", "Communication share", present.say("{exposed_share}"), artifact),
        ("efficiency", "GPU efficiency", present.say("{efficiency}"), artifact),
        (
            "bandwidth",
            "Least bandwidth",
            present.say("{required_bandwidth}"),
            "it forgets the factor 2(n − 1)/n and hides nothing behind the backward pass",
        ),
        (
            "upgrade",
            "Suggested upgrade",
            "none",
            "counted in hundreds, rounded up, then multiplied by 400: a slip",
        ),
    )
