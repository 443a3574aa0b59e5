"""References of OmegaConf between the keys of a YAML: `${variables.max_seq_len}`."""

import re
from dataclasses import replace

from engine.run.importers.import_report import Setting

_REFERENCE = re.compile(r"\$\{([\w.]{1,200})\}")
_DEEPEST = 5
_WRAPPER = "parameters."  # of MosaicML's platform, which hands over what is below it


def resolve_references(settings: list[Setting]) -> list[Setting]:
    """Return the settings, with a value that refers to another key replaced by that key's value."""
    values = {setting.key: setting.value for setting in settings}
    return [
        replace(setting, value=_resolved(setting.value, setting.key, values))
        for setting in settings
    ]


def _resolved(value: object, key: str, values: dict[str, object]) -> object:
    for _ in range(_DEEPEST):
        match = _REFERENCE.fullmatch(value) if isinstance(value, str) else None
        if match is None:
            return value
        path = match[1]
        if path.startswith("."):  # relative: beside the key, a further point is a level up
            levels = len(path) - len(path.lstrip("."))
            parents = key.split(".")[:-levels]
            path = ".".join([*parents, path.lstrip(".")])
        if f"{_WRAPPER}{path}" in values:
            path = f"{_WRAPPER}{path}"
        if path not in values:
            return value
        value, key = values[path], path
    return value
