"""Records of a script that is followed: its commands, its variables, its branches."""

from dataclasses import dataclass, field

from engine.run.importers.shell_expansion import Branch, Environment, ShellWord


@dataclass(frozen=True, slots=True)
class Command:
    """A command: its words with their lines."""

    words: tuple[ShellWord, ...]
    line: int


@dataclass(slots=True)
class Script:
    """The commands and variables of a script.

    Attributes:
        commands: in their order.
        environment: variables at the end.
    """

    commands: list[Command] = field(default_factory=list)
    environment: Environment = field(default_factory=Environment)


@dataclass(slots=True)
class Choice:
    """Branches of one condition: what was followed, and which of them nothing decides."""

    identifier: int
    line: int
    start: Environment
    entered: bool
    chosen: bool = False
    closed: bool = False
    unknown: list[str] = field(default_factory=list)
    results: list[tuple[Branch, Environment]] = field(default_factory=list)
