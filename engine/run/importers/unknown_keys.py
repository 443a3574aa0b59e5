"""Keys of a known format that are not known here, and which of them the answer must warn of."""

import re
from collections.abc import Callable, Iterator, Sequence

from engine.run.importers.import_report import RunDraft, Setting, shorten

UNKNOWN = "not known here"
# Words of names that may be a size, a degree, or a switch of memory.
_SIZES = frozenset(
    word
    for line in (
        """hidden size sizes rank ranks dim dims layer layers head heads expert experts parallel
    parallelism degree shard shards sharding sharded offload offloading checkpointing recompute
    recomputation recomputed remat batch batches length len seq sequence context precision dtype
    fp32 fp16 bf16 fp8 fp4 mxfp8 nvfp4 int8 int4 quantization quantize quantized accumulation nodes
    gpus devices world vocab vocabulary ffn intermediate stage stages zero compress compression
    window topk tensor pipeline virtual microbatch microbatches tokens width depth multiplier
    lora adapter freeze frozen tie tied mtp optimizer ddp fsdp""",
    )
    for word in line.split()
)
_OFF = ("false", "none", "null", "0", "no", "off", "{}", "")


def may_change_memory(setting: Setting) -> bool:
    """Return whether an unknown key speaks of a size, a degree, or a switch of memory."""
    words = re.split(r"[^A-Za-z0-9]+|(?<=[a-z])(?=[A-Z])", setting.key)
    named = any(word.lower() in _SIZES for word in words)
    return named and str(setting.value).strip().lower() not in _OFF


def report_unknown(setting: Setting, draft: RunDraft) -> None:
    """Report a key that is not known here; warn where its name speaks of size or memory."""
    draft.report(setting, "not known", UNKNOWN)
    if may_change_memory(setting):
        where = f" (line {setting.line})" if setting.line else ""
        draft.warnings.append(f"{shorten(setting.key)}{where} is not known here")


# Of a flag that a script holds in a variable which none of its commands expands.
IDLE = "held by a variable that no command here uses"


def settle_conditions(
    settings: Sequence[Setting], draft: RunDraft, matters: Callable[[Setting], bool]
) -> Iterator[Setting]:
    """Yield the settings that hold for certain; report those in branches that nothing decides.

    `matters`: whether a setting changes the job; then no answer is given until it is decided.
    """
    certain = {(setting.key, str(setting.value)) for setting in settings if not setting.condition}
    for setting in settings:
        if setting.key.startswith("$"):
            _report_unsaid(setting, draft)
            continue
        if not setting.condition:
            yield setting
            continue
        if setting.condition == IDLE:
            draft.report(setting, "not known", IDLE)
            draft.warnings.append(f"{shorten(setting.key)} (line {setting.line}) is {IDLE}")
            continue
        draft.report(setting, "not known", f"only where {setting.condition}; nothing here says it")
        if matters(setting) and (setting.key, str(setting.value)) not in certain:
            draft.contradictions.append(
                f"line {setting.line}: {shorten(setting.key)} {shorten(setting.value)} holds only "
                f"where {setting.condition}, and nothing in the text says whether it does"
            )


def _report_unsaid(setting: Setting, draft: RunDraft) -> None:
    """Report arguments in a variable that the command expands and the text does not assign."""
    if f"{setting.key[1:]}=" in draft.notes.get("text", ""):
        draft.report(setting, "understood", "arguments, read where the text assigns them")
        return
    said = "arguments that the text does not say"
    draft.report(setting, "not known", said)
    draft.warnings.append(f"{shorten(setting.key)} (line {setting.line}) holds {said}")
