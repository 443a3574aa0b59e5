"""What a script of the Trainer trains for, by its class of arguments or by its program's name.

TRL's classes of preferences train two sequences of a sample; of reinforcement learning the training
pass alone is shown. A program of one's own says it by its name alone: `run_dpo.py`, `train_rm.py`,
`FlagEmbedding.finetune.reranker`.
"""

import re

from engine.run.importers.import_report import RunDraft, Setting, shorten
from engine.run.importers.key_table import remark

GENERATES = "reinforcement learning: the training pass alone is shown, without generation"
_PAIRS = "a reference model beside the one that is trained; a sample counts as two sequences"
_FREE = "a sample counts as two sequences"
_HEAD = "another head and loss; a language model's are shown"
_REWARDS = f"{_FREE}; {_HEAD}"
_REFERENCE = "a reference model beside the one that is trained"
_TEACHER = "a teacher beside the model that is trained"
# Keys whose values are names, and words of those that only training on pairs has.
_NAMES = frozenset(
    ("output_dir", "run_name", "hub_model_id", "wandb_project", "wandb_run_name", "dataset_name",
     "dataset", "train_dataset", "data_path", "exp_name")
)  # fmt: skip
_OF_PAIRS = re.compile(
    r"(?<![a-z])(?:dpo|orpo|simpo|ipo|cpo|apo|pairrm|preferences?|ultrafeedback|rejected)(?![a-z])"
)
_WITHOUT_REFERENCE = re.compile(r"(?<![a-z])(?:orpo|simpo|cpo)(?![a-z])")
# Words of a name, what they say, and how many sequences a sample is.
_WORDS = (
    (r"(?:grpo|ppo|rloo|gkd|xpo|nash|online[ _]dpo|reinforce|rlhf|rlvr)", GENERATES, 1),
    (r"(?:orpo|cpo|simpo)", _FREE, 2),
    (r"(?:dpo|ipo)", _PAIRS, 2),
    (r"(?:reward|rm|prm|orm)", _REWARDS, 2),
    (r"(?:kto|bco)", _REFERENCE, 1),
    (r"(?:distill?|distillation|kd)", _TEACHER, 1),
    (r"(?:rerank|embed|retriev|classif|contrastiv|biencoder|crossencoder)[a-z]*", _HEAD, 1),
)


def read_class(setting: Setting, draft: RunDraft) -> None:
    """Note the class of the arguments: TRL's have defaults of their own."""
    name = str(setting.value)
    draft.notes["arguments class"] = name
    words = re.sub(r"(Config|Arguments|Trainer)$", "", name)
    objective = _objective(words)
    if objective is None:
        draft.report(setting, "understood", f"the defaults of {shorten(name)}")
    else:
        _note(objective, draft)
        draft.report_not_modeled(setting, objective[0])


def derive_objective(draft: RunDraft) -> None:
    """Say what is trained for, where a key of preferences or a program's name says it."""
    notes = draft.notes
    known = {"reinforcement", "sequences of a sample"} & set(notes)
    if "preferences" in notes and not known:
        notes["sequences of a sample"] = 2
        free = notes.get("no reference") or _named(draft, _WITHOUT_REFERENCE)
        reason = _FREE if free else _PAIRS
        remark(draft, "beta", "preferences", reason)
    elif "arguments class" not in notes and not known:
        for name, line in notes.get("programs", {}).items():
            if objective := _objective(name):
                _note(objective, draft)
                remark(draft, name, "program", objective[0], line)
                return
        if not notes.get("programs"):
            _hint(draft)


def _hint(draft: RunDraft) -> None:
    """Warn where names alone speak of pairs: a file of settings may not say what it trains."""
    if found := _named(draft, _OF_PAIRS):
        key, line, word = found
        draft.warnings.append(
            f"{key} (line {line}) speaks of {word}, and nothing says what is trained: plain "
            "training is shown; for pairs, add the program or its class (DPOConfig): a sample is "
            "then two sequences"
        )


def _named(draft: RunDraft, words: re.Pattern[str]) -> tuple[str, int, str] | None:
    """Return the first name with one of the words: its key, its line and the word."""
    for entry in draft.entries:
        value = re.sub(r"[^a-z0-9]+", " ", str(entry.value).lower())
        if entry.key.lstrip("-") in _NAMES and (match := words.search(value)):
            return entry.key, entry.line, match[0]
    return None


def _objective(name: str) -> tuple[str, int] | None:
    """Return what a name says of the loss and of the sequences of a sample."""
    words = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).lower()
    for word, loss, sequences in _WORDS:
        if re.search(rf"(?<![a-z]){word}(?![a-z])", words):
            return loss, sequences
    return None


def _note(objective: tuple[str, int], draft: RunDraft) -> None:
    loss, sequences = objective
    if loss == GENERATES:
        draft.notes["reinforcement"] = True
    elif sequences > 1:
        draft.notes["sequences of a sample"] = sequences
