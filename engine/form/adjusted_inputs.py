"""Badges that report adjusted inputs before their own sentence."""

from dataclasses import replace

from engine.core.text import Text, say
from engine.core.units import Quantity
from engine.core.views import Badge


def with_changes(badge: Badge, changes: tuple[Text, ...]) -> Badge:
    """Return a badge whose sentence starts with the changes to the plan."""
    if not changes:
        return badge
    return replace(badge, sentence=join_sentences((*changes, badge.sentence), []))


def join_sentences(changes: tuple[Text, ...], sentences: list[str]) -> Text:
    """Return changes and remarks as one sentence."""
    numbers: dict[str, tuple[float, Quantity]] = {}
    templates = []
    for index, change in enumerate(changes):
        template = change if isinstance(change, str) else change.template
        for name, number in {} if isinstance(change, str) else change.numbers.items():
            template = template.replace(f"{{{name}}}", f"{{{name}{index}}}")
            numbers[f"{name}{index}"] = number
        templates.append(template)
    return say(" ".join([*templates, *sentences]), **numbers)
