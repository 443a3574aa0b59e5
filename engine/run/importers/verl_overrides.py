"""Overrides of verl in a script: `actor_rollout_ref.model.path=...`, with their lines."""

import re

from engine.run.importers.import_report import Setting
from engine.run.importers.shell import resolve_variables

# First parts of verl's keys; of a key with a point any first part is an override.
_HEADS = (
    "actor_rollout_ref", "data", "trainer", "algorithm", "critic", "reward_model", "reward",
    "model", "optim", "engine", "checkpoint", "global_profiler", "ray_kwargs", "rollout",
    "custom_reward_function", "ulysses_sequence_parallel_size", "use_remove_padding",
    "transfer_queue", "async_training", "config",
)  # fmt: skip
_OVERRIDE = re.compile(
    rf"(?:^|(?<=[\s\"'(]))[+~]{{0,2}}((?:{'|'.join(_HEADS)}|[a-z_]\w*(?=\.))(?:\.[A-Za-z_][\w]*)*)="
    r"(\"[^\"\n]{0,300}\"|'[^'\n]{0,300}'|\[[^\]\n]{0,300}\]|[^\s\\\"']{0,300})"
)


def read_overrides(text: str, first_line: int = 1) -> list[Setting]:
    """Return `KEY=VALUE` overrides with their lines; comments are left out."""
    settings = []
    for number, line in enumerate(resolve_variables(text).splitlines(), first_line):
        code = re.sub(r"(^|\s)#.*$", " ", line[:40_000])
        for match in _OVERRIDE.finditer(code):
            settings.append(Setting(key=match[1], value=_plain(match[2]), line=number))
    return settings


def _plain(word: str) -> object:
    text = word.strip("\"'")
    if text.startswith("[") and text.endswith("]"):
        return [part.strip(" \"'") for part in text[1:-1].split(",") if part.strip()]
    return text
