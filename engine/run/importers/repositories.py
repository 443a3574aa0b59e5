"""The catalog's model that a repository's or a folder's name stands for.

A name counts where all of it is known: a size and family of the catalog, and words behind it that
change no shape (Instruct, -hf, 2507). A word that is not in the list makes it another model.
"""

import re

from engine.catalog.model_row_sources import ROW_SOURCES
from engine.catalog.recent_models import EVERY_MODEL
from engine.catalog.recent_rows import RECENT_ROWS
from engine.run.importers.import_report import RunDraft, Setting, shorten

# Words of names that change no size of a model; dates are those of Qwen3's second release and of
# DeepSeek's checkpoints.
_SAME_SHAPE = frozenset(
    ("instruct", "base", "chat", "hf", "it", "pt", "thinking", "2507", "fp16", "bf16", "0324",
     "0528", "dpo", "sft", "mixture")
)  # fmt: skip
# Families whose files have the sizes of a catalog's row under another name: Llama 3.1 and 3.3 those
# of Llama 3, Qwen2 and Qwen2.5's Coder and Math those of Qwen2.5 (their config.json).
_RENAMED: tuple[tuple[str, str], ...] = (
    (r"^meta-", ""),
    (r"^llama-?3\.1-(8b|70b|405b)$", r"llama-3-\1"),
    (r"^llama-?3\.3-70b$", "llama-3-70b"),
    (r"^llama-?3-(8b|70b)$", r"llama-3-\1"),
    (r"^llama-?2-(7b|13b|70b)$", r"llama-2-\1"),
    (r"^codellama-34b$", "code-llama-34b"),
    (r"^vicuna-(7b|13b)-v1\.[0-9]$", r"llama-2-\1"),
    (r"^zephyr-7b-(alpha|beta|sft-full|dpo-full)$", "mistral-7b"),
    (r"^qwen2-(0\.5b|1\.5b|7b|72b)$", r"qwen2.5-\1"),
    (r"^qwen2\.5-coder-(0\.5b|1\.5b|3b|7b|14b|32b)$", r"qwen2.5-\1"),
    (r"^qwen2\.5-math-(1\.5b|7b|72b)$", r"qwen2.5-\1"),
    (r"^deepseek-r1-distill-qwen-(7b|14b|32b)$", r"qwen2.5-\1"),
    (r"^deepseek-r1-distill-llama-(8b|70b)$", r"llama-3-\1"),
    (r"^deepseek-(r1|v3|v3\.1)$", "deepseek-v3"),
    (r"^qwen3-coder-30b-a3b$", "qwen3-30b-a3b"),
    (r"^mistral-7b-(instruct-)?v0\.[12]$", "mistral-7b"),
    (r"^mixtral-(8x7b|8x22b)-(instruct-)?v0\.1$", r"mixtral-\1"),
)


def find_repository(name: str) -> str | None:
    """Return the catalog's key of `org/name`, of a folder that ends so, or of a plain name."""
    path = name.strip().rstrip("/").lower()[:300]
    if cached := re.search(r"models--([\w.-]+?)--([\w.-]+?)(?:/|$)", path):
        path = f"{cached[1]}/{cached[2]}"  # in the cache of the hub
    if path in _REPOSITORIES:
        return _REPOSITORIES[path]
    word = path.rpartition("/")[2]
    if not word or "$" in word:
        return None
    key = _known(word)
    if key is None:
        parts = [part for part in word.split("-") if part not in _SAME_SHAPE]
        key = _known("-".join(parts))
    return key


def _known(word: str) -> str | None:
    for pattern, becomes in _RENAMED:
        word = re.sub(pattern, becomes, word)
    if word in EVERY_MODEL:
        return word
    return _PLAIN.get(word) or _PLAIN.get(_squeezed(word))


def _squeezed(word: str) -> str:
    return re.sub(r"[^a-z0-9.]", "", word)


_REPOSITORIES = {
    where.lower(): key for key, (where, _) in ROW_SOURCES.items() if where.count("/") == 1
} | {row.where.lower(): row.key for row in RECENT_ROWS}
_PLAIN = {_squeezed(key): key for key in EVERY_MODEL} | {
    repository.rpartition("/")[2]: key for repository, key in _REPOSITORIES.items()
}


def note_model(setting: Setting, draft: RunDraft) -> None:
    """Note the name of a model; a config.json in the text counts more."""
    if str(setting.value).strip().lower() in ("none", "null", ""):
        draft.report(setting, "understood", "not set")
        return
    if not isinstance(setting.value, str):
        draft.report(setting, "not known", "no name of a model")
        return
    draft.notes["model name"] = setting.value.strip()
    draft.notes["model line"] = setting.line
    key = find_repository(setting.value)
    if key:
        draft.report(setting, "understood", f"the catalog's {EVERY_MODEL[key].name}")
    else:
        draft.report(setting, "not known", "not in the catalog: its config.json says its shape")


def derive_named_model(draft: RunDraft) -> None:
    """Derive the model from its noted name, unless a text says its shape."""
    if "model" in draft.values or "model.num_layers" in draft.values:
        return
    name = str(draft.notes.get("model name", ""))
    if key := find_repository(name):
        draft.derive("model", key, f"{shorten(name)}, by its name")
