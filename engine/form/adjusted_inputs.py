"""Verdicts that first say what had to change of the reader's inputs."""

from dataclasses import replace

from engine.core.text import Text, say
from engine.core.units import Quantity
from engine.core.views import Badge


def told(badge: Badge, changes: tuple[Text, ...]) -> Badge:
    """Return a verdict that first says what had to change of the plan."""
    if not changes:
        return badge
    return replace(badge, sentence=joined((*changes, badge.sentence), []))


def joined(changes: tuple[Text, ...], said: list[str]) -> Text:
    """Return one sentence of all changes and remarks."""
    numbers: dict[str, tuple[float, Quantity]] = {}
    templates = []
    for index, change in enumerate(changes):
        template = change if isinstance(change, str) else change.template
        for name, number in {} if isinstance(change, str) else change.numbers.items():
            template = template.replace(f"{{{name}}}", f"{{{name}{index}}}")
            numbers[f"{name}{index}"] = number
        templates.append(template)
    return say(" ".join([*templates, *said]), **numbers)
