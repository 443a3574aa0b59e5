"""The vocabulary that a tokenizer's name says, padded as Megatron-LM pads it.

Rows are padded to a multiple of `--make-vocab-size-divisible-by` (128) times the tensor
parallelism (megatron-core 0.19.2, `training/tokenizer/tokenizer.py`, `_vocab_size_with_padding`;
GPT-NeoX, `megatron/tokenizer/tokenizer.py`). A tokenizer that a repository of the catalog brings
has the rows of that model; of any other the text says no size, and the answer warns.
"""

from collections.abc import Mapping

from engine.catalog.recent_models import EVERY_MODEL
from engine.run.importers.import_report import RunDraft, positive_number, shorten
from engine.run.importers.key_table import remark
from engine.run.importers.repositories import find_repository

_GPT2 = 50257
# Tokenizers whose size their name says: GPT-2's merges, and those of one family of models.
_KINDS: Mapping[str, int] = {
    "GPT2BPETokenizer": _GPT2,
    "Llama2Tokenizer": 32000,
    "Llama3Tokenizer": 128256,
}
_PATH = "model.vocab_size"


def derive_vocabulary(draft: RunDraft, kind: str, name: str, software: str) -> None:
    """Derive the rows of the embedding from a tokenizer; warn where none is known.

    Args:
        draft: with `make-vocab-size-divisible-by` among its notes.
        kind: class of the tokenizer, empty if the text names none.
        name: its repository or file, empty if the text names none.
        software: whose padding it is.
    """
    if _PATH in draft.values or "model" in draft.values:
        return
    multiple = positive_number(draft.notes.get("make-vocab-size-divisible-by")) or 128
    multiple *= draft.get("parallelism.tensor_parallel")
    by_name = find_repository(name) or find_repository(name.rpartition("/")[0])
    if by_name:
        rows, why = EVERY_MODEL[by_name].vocab_size, f"{EVERY_MODEL[by_name].name}'s, by its name"
    elif kind in _KINDS or "20B_tokenizer" in name:
        rows = _KINDS.get(kind, 50277)  # the file of GPT-NeoX-20B
        why = f"of {shorten(kind)}"
    else:
        rows = -(-_GPT2 // multiple) * multiple
        tokenizer = " ".join(word for word in (shorten(kind), shorten(name)) if word)
        reason = f"of {tokenizer}, which is not read; GPT-2's vocabulary is shown"
        remark(
            draft, "vocab_size", rows, reason if tokenizer else "no text says it; GPT-2's is shown"
        )
        draft.values[_PATH] = rows
        return
    padded = -(-rows // multiple) * multiple
    draft.derive(_PATH, padded, f"{why}, padded to a multiple of {multiple} ({software})")
