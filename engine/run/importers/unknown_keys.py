"""Keys of a known format that are not known here, and which of them the answer must warn of."""

import re
from collections.abc import Callable, Iterator, Sequence

from engine.run.importers.import_report import RunDraft, Setting, shorten

UNKNOWN = "not known here"


def words_of(text: str) -> frozenset[str]:
    """Return the words of a text."""
    return frozenset(text.split())


# Words of names that may be a size, a degree, a switch of memory, or another model beside.
_SIZES = words_of(
    """accum accumulate accumulation activation adapter adapters amp attention attn autocast batch
    batches batchsize bf bfloat block bs bsz checkpointing
    compile compiled compress compression context cp ctx ddp deepspeed degree depth devices dim dims
    dmodel dora dp ds dtype embd embed embedding ep expert experts ffn flash float fp freeze frozen
    fsdp galore gas gbs gpus half head heads hidden hsdp int intermediate kernel
    layer layers len length liger lora
    maxlen mbs mem memory microbatch microbatches mixed mlp modules moe mtp multiplier mxfp ngpu
    ngpus nhead nlayer nlayers nnodes nodes nproc nvfp
    offload offloading optim optimizer packed packing padded parallel parallelism peft pipeline pp
    precision processes qlora
    quant quantization quantize quantized rank ranks recompute recomputed recomputation remat seq
    seqlen sequence shard sharded sharding shards size sizes sp stage stages tensor tie tied tokens
    topk tp trainable ulysses unfreeze unfrozen untie virtual vision vocab vocabulary width window
    world zero
    teacher student distill distillation kd dpo kto grpo ppo reference reward critic"""
)
# A switch of recomputation; `checkpoint` alone is most often a file that is saved.
_RECOMPUTED = re.compile(
    r"(?:gra?d|grads|gradient|act|activations?|block|layer|torch|use|enable|do)s?[_.-]?(?:re)?"
    r"(?:ckpt|checkpoint)(?:s|ing)?(?![a-z]*[_-](?:dir|path))"
)
_OFF = ("false", "none", "null", "0", "no", "off", "{}", "")


def may_change_memory(setting: Setting) -> bool:
    """Return whether an unknown key speaks of a size, a degree, or a switch of memory."""
    words = re.split(r"[^A-Za-z]+|(?<=[a-z])(?=[A-Z])", setting.key)
    named = any(word.lower() in _SIZES for word in words)
    named = named or bool(_RECOMPUTED.search(setting.key.lower()))
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


_OF_LAUNCHERS = (
    "$SLURM_",
    "$MASTER_",
    "$RANK",
    "$NODE_RANK",
    "$LOCAL_",
    "$HOST",
    "$PMI_",
    "$OMPI_",
)


def _report_unsaid(setting: Setting, draft: RunDraft) -> None:
    """Report arguments in a variable that the command expands and the text does not assign."""
    if setting.key.startswith(_OF_LAUNCHERS):
        draft.report(setting, "without effect", "what the launcher says of a process")
        return
    if f"{setting.key[1:]}=" in draft.notes.get("text", ""):
        draft.report(setting, "understood", "arguments, read where the text assigns them")
        return
    reason = "arguments that the text does not say"
    draft.report(setting, "not known", reason)
    draft.warnings.append(f"{shorten(setting.key)} (line {setting.line}) holds {reason}")
