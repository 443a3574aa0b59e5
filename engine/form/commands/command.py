"""A measuring tool as data: its command with places to fill, its options, and how to read it."""

from dataclasses import dataclass

Row = tuple[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """A command of a measurement tool.

    Attributes:
        name: of the tool, as in the list.
        layer: of the machine that it looks at, a key of `LAYERS`.
        version: what the command was checked against.
        language: of the text, "sh" or "python".
        text: the command; places to fill are names of inputs in angle brackets.
        fields: the inputs that it uses.
        options: (option, what it does).
        sample: (a line in the form of the tool's output, what it means); made up, not measured.
        healthy: what a healthy job shows.
        relation: what it has to do with the time of a step.
        sources: keys of the bibliography.
    """

    name: str
    layer: str
    version: str
    language: str = "sh"
    text: str
    fields: tuple[str, ...]
    options: tuple[Row, ...]
    sample: tuple[Row, ...]
    healthy: str
    relation: str
    sources: tuple[str, ...]


LAYERS = {
    "job": "Job",
    "kernels": "Kernels",
    "gpu": "GPU",
    "node": "Links in the node",
    "collectives": "Collectives",
    "infiniband": "InfiniBand",
    "ethernet": "RoCE, Ethernet",
    "efa": "EFA",
}
