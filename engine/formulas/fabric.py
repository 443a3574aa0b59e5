"""A fat tree in closed form: what crosses its middle, and what a narrow middle costs a step."""

from engine.core.equation import Equation
from engine.core.units import Bandwidth, Count, Price, Ratio, Seconds, Share

_SYMBOLS = {
    "W": ("W", "bandwidth between two halves of the cluster, one way"),
    "N": ("N", "nodes"),
    "k": ("k", "ports per node"),
    "b": ("b", "speed of a port, one way"),
    "o": ("o", "oversubscription"),
    "K": ("K", "speed that is kept"),
    "f": ("f", "share of the step that waits for messages over the narrow links"),
}


def _of(keys: str) -> dict[str, tuple[str, str]]:
    return {key: _SYMBOLS[key] for key in keys.split()}


BISECTION = Equation(
    name="bisection_bandwidth",
    tex=r"\v{W} = \frac{\v{N}\,\v{k}\,\v{b}}{2\,\v{o}}",
    symbols=_of("W N k b o"),
    sources=("leiserson1985",),
    title="Bisection bandwidth",
)


def bisection_bandwidth(
    num_nodes: Count, ports_per_node: Count, port: Bandwidth, oversubscription: Ratio
) -> Bandwidth:
    """Return what one half of the cluster can send to the other half at once, one way.

    Source: Leiserson 1985, for a tree whose links upward are `oversubscription` times too few.
    Limit: both halves consist of whole leaf groups; within a group nothing is oversubscribed.
    """
    return num_nodes * ports_per_node * port / (2 * oversubscription)


KEPT_SPEED = Equation(
    name="kept_speed",
    tex=r"\v{K} = \frac{1}{1 + \v{f}\,(\v{o} - 1)}",
    symbols=_of("K f o"),
    title="Speed kept on an oversubscribed network",
)


def kept_speed(exposed: Share, oversubscription: Ratio) -> Share:
    """Return the speed of a step on an oversubscribed fabric over that on a non-blocking one.

    Amdahl's law: of a step on the non-blocking fabric, the share f waits for messages that cross
    the narrow links, and those take o times as long. Derived. Limit: what hides behind computation
    stays hidden although it takes longer, and all ports send upward at once.
    """
    return 1 / (1 + exposed * (oversubscription - 1))


EXPOSED_FOR = Equation(
    name="exposed_for_kept_speed",
    tex=r"\v{f} = \frac{1/\v{K} - 1}{\v{o} - 1}",
    symbols=_of("f K o"),
    title="Exposed share that an oversubscribed network allows",
)


def exposed_for(kept: Share, oversubscription: Ratio) -> Share:
    """Return the exposed share at which just that much speed is kept: the kept speed, solved for f.

    Raises:
        ValueError: the fabric is not oversubscribed, so that all speed is kept at any share.
    """
    if oversubscription <= 1:
        raise ValueError(f"oversubscription is {oversubscription}; it must be above 1")
    return (1 / kept - 1) / (oversubscription - 1)


WAITING_STEP = Equation(
    name="step_with_longer_waits",
    tex=r"\v{T} = \v{P} + (\v{w} - 1)\,\v{E}",
    symbols={
        "T": ("T", "step"),
        "P": ("P", "step without late messages"),
        "w": ("w", "wait for late messages, over what it would be without them"),
        "E": ("E", "communication that the step waits for"),
    },
    title="Step when late messages wait longer",
)


def waiting_step(step: Seconds, exposed: Seconds, wait: Ratio) -> Seconds:
    """Return a step whose exposed communication takes w times as long.

    Derived. Limit: what is hidden stays hidden although late messages take longer too.
    """
    return step + (wait - 1) * exposed


BREAK_EVEN_PRICE = Equation(
    name="break_even_price",
    tex=r"\v{p} = \v{q}\,\frac{\v{A}}{\v{T}}",
    symbols={
        "p": ("p", "price at which a token costs the same"),
        "q": ("q", "price of a GPU with the other network"),
        "A": ("A", "step with the other network"),
        "T": ("T", "step"),
    },
    title="Price at which two networks cost the same per token",
)


def break_even_price(price: Price, other_step: Seconds, step: Seconds) -> Price:
    """Return what a GPU may cost with one network so that a token costs as much as with another."""
    return price * other_step / step
