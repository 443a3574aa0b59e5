"""Which linear layers have adapters of LoRA: those of the attention, or all of them."""

from typing import Literal

from engine.run.importers.import_report import RunDraft, Setting
from engine.run.importers.key_table import is_absent, remark

_PATH = "training.lora_layers"
_QUERIES = (
    "qkv_proj",
    "linear_qkv",
    "query_key_value",
    "wqkv",
    "c_attn",
    "attention_qkv",
    "linear_q",
)
_OUT = ("o_proj", "out_proj", "linear_proj", "wo", "dense", "attention_dense")
_ATTENTION = {
    "q_proj", "k_proj", "v_proj", "wq", "wk", "wv", "linear_k", "linear_v", "attention",
    *_QUERIES, *_OUT,
}  # fmt: skip
_UP = (
    "up_proj",
    "gate_up_proj",
    "linear_fc1",
    "dense_h_to_4h",
    "fc1",
    "mlp_fc1",
    "w1",
    "c_fc",
    "linear_fc1_up",
)
_DOWN = ("down_proj", "linear_fc2", "dense_4h_to_h", "fc2", "mlp_fc2", "w2", "ffn_down_proj")
_EVERY = {"all", "all-linear", "all_linear", "*", "*_proj", "*proj"}


def read_targets(setting: Setting, draft: RunDraft) -> None:
    """Read which layers have adapters; nothing said is left to the software's default."""
    value = setting.value
    words = value if isinstance(value, list) else str(value).replace(",", " ").split()
    named = {_last(str(word)) for word in words} - {"", "none"}
    if is_absent(value) or not named:
        draft.report(setting, "understood", "not set")
        return
    attention = bool({"q_proj", "k_proj", "v_proj"} <= named or named & set(_QUERIES)) and bool(
        named & set(_OUT)
    )
    mlp = bool(named & set(_UP) and named & set(_DOWN)) or "mlp" in named
    if named & _EVERY or ((attention or "attention" in named) and mlp):
        draft.set_value(setting, _PATH, "all")
    elif "attention" in named or (attention and named <= _ATTENTION):
        draft.set_value(setting, _PATH, "attention")
    elif named <= _ATTENTION:
        draft.values[_PATH] = "attention"
        draft.report_not_modeled(setting, "adapters at all of the attention are shown")
    else:
        draft.values[_PATH] = "all"
        reason = "adapters at all linear layers are shown, which take more"
        draft.report_not_modeled(setting, reason)


def _last(word: str) -> str:
    """Return the last part of a module's name or pattern: q_proj of `*.q_proj`."""
    last = word.strip("[]\"'").rpartition(".")[2].lower()
    return last if last in _EVERY else last.lstrip("*")


def note_bits(setting: Setting, draft: RunDraft, bits: str) -> None:
    """Note that frozen weights are kept in `bits` bits; `settle_bits` says what became of it."""
    draft.notes["frozen bits"] = setting, bits


def settle_bits(draft: RunDraft) -> None:
    """Keep frozen weights in 4 bits where a run file can say it, or warn of what is shown.

    bitsandbytes has NF4 and FP4, both of half a byte; it runs under FSDP and DeepSpeed (QLoRA).
    """
    if "frozen bits" not in draft.notes:
        return
    setting, bits = draft.notes.pop("frozen bits")
    get, values = draft.get, draft.values
    split = get("parallelism.tensor_parallel") * get("parallelism.pipeline_parallel")
    alone = split * get("parallelism.context_parallel") == 1
    framework = values.get("training.framework") in ("fsdp", "deepspeed")
    plain = values.get("training.precision", "bf16") in ("bf16", "fp16")
    if bits == "4" and "training.lora_rank" in values and framework and alone and plain:
        draft.set_value(setting, "training.nf4_weights", True)
    else:
        what = f"frozen weights are kept in {bits} bits; 16 are shown, which take more"
        draft.report_not_modeled(setting, what)


def settle_targets(draft: RunDraft, default: Literal["all", "PEFT"], software: str) -> None:
    """Assume the layers with adapters where no setting says them."""
    if "training.lora_rank" not in draft.values:
        draft.values.pop(_PATH, None)
        return
    if _PATH in draft.values:
        return
    if default == "all":
        draft.assume(_PATH, "all", f"adapters at all linear layers unless told ({software})")
    else:
        # TRANSFORMERS_MODELS_TO_LORA_TARGET_MODULES_MAPPING of peft/utils/constants.py.
        draft.assume(_PATH, "attention", f"PEFT's, with no modules named ({software})")
        reason = "PEFT adapts queries and values of most models; all of the attention is shown"
        remark(draft, "target_modules", "not said", reason)
