"""The experts of a `config.json`: how many, how wide, and which layers have them."""

from collections.abc import Iterator

from engine.run.importers.hugging_face_flat import unknown_experts_key
from engine.run.importers.hugging_face_layers import ranges
from engine.run.importers.model_families import VERSION
from engine.run.importers.model_shape import ALIASES, Config, ModelShape
from engine.run.values import format_value


def read_experts(config: Config, shape: ModelShape) -> None:
    """Fill in the experts; drop expert-only keys of a dense model."""
    fields = shape.fields
    if "num_experts" not in fields and (key := unknown_experts_key(config)):
        shape.problems.append(
            f"{key}: {config[key]}; allowed: a number of experts under one of the names "
            f"{', '.join(ALIASES['num_experts'])}"
        )
    if _without_experts(config, shape):
        return
    if not {"expert_ffn_hidden_size", "ffn_hidden_size"} & set(fields):
        return  # its absence is a problem already
    if not fields.get("expert_ffn_hidden_size"):
        fields["expert_ffn_hidden_size"] = fields["ffn_hidden_size"]
        shape.derived["expert_ffn_hidden_size"] = "intermediate_size: no width of experts is named"
    if "experts_per_token" not in fields:
        shape.problems.append("num_experts_per_tok: missing; allowed: 1 to the number of experts")
    _shared_experts(config, shape)
    for key, becomes, size in _layers_with_experts(config, shape):
        shape.used[key] = becomes
        fields[becomes] = size
    groups = config.get("topk_group")
    if isinstance(groups, int) and isinstance(config.get("n_group"), int) and groups > 0:
        shape.used["topk_group"] = "nodes_per_token"
        fields["nodes_per_token"] = groups if config["n_group"] > 1 else 0


def _without_experts(config: Config, shape: ModelShape) -> bool:
    """Return whether a model is dense; drop the keys of experts then."""
    fields = shape.fields
    off = next((key for key in ("is_moe", "use_moe") if config.get(key) is False), "")
    if not off and fields.get("num_experts", 0) > 1:
        return False
    shape.used |= {off: "num_experts"} if off else {}
    width = config.get("shared_intermediate_size")
    if type(width) is int and 0 < width < 1 << 24 and "hybrid" in str(config.get("model_type")):
        # Granite 4: without experts, the shared part is the feed-forward part.
        fields["ffn_hidden_size"] = width
        shape.used["shared_intermediate_size"] = "ffn_hidden_size"
    for key in [key for key in fields if "expert" in key or key == "num_dense_layers"]:
        fields.pop(key)
    return True


def _shared_experts(config: Config, shape: ModelShape) -> None:
    """Fill in the shared experts, from their number or their width."""
    names = ("moe_shared_expert_intermediate_size", "shared_expert_intermediate_size")
    others = (
        *names,
        "shared_experts_intermediate_size",
        "shared_intermediate_size",
        "share_expert_dim",
    )
    key = next((other for other in others if config.get(other)), "")
    width, each = config.get(key), shape.fields["expert_ffn_hidden_size"]
    # Nemotron's one shared expert is wider than the others, and says so beside their number.
    counted = "num_shared_experts" in shape.fields and key != names[0]
    if isinstance(width, int) and width == each * shape.fields.get("num_shared_experts", 0):
        shape.used[key] = "num_shared_experts"
    elif isinstance(width, int) and width > 0 and not counted:
        shape.fields["num_shared_experts"] = max(1, round(width / each))
        shape.derived["num_shared_experts"] = f"a width of {width} over {each} of one expert"
        shape.used[key] = "num_shared_experts"
    if config.get("enable_moe_block"):
        _dense_part(config, shape)
    if config.get("model_type") in ("llama4_text", "llama4"):
        shape.fields["num_shared_experts"] = 1
        shape.assumed["num_shared_experts"] = f"1: Llama 4's class always has one ({VERSION})"


def _dense_part(config: Config, shape: ModelShape) -> None:
    """Fill in Gemma 4's dense part, which every token takes beside its experts, as shared ones."""
    width, each = config.get("intermediate_size"), shape.fields["expert_ffn_hidden_size"]
    if not isinstance(width, int) or width % each:
        shape.problems.append(
            f"enable_moe_block: {config['enable_moe_block']}; allowed: with an intermediate_size "
            f"that is a multiple of moe_intermediate_size = {each}"
        )
        return
    shape.fields["num_shared_experts"] = width // each
    shape.derived["num_shared_experts"] = f"a dense part of {width} over {each} of one expert"
    shape.used["enable_moe_block"] = "num_shared_experts"


def _layers_with_experts(config: Config, shape: ModelShape) -> Iterator[tuple[str, str, int]]:
    """Yield the placement of dense layers: (configuration key, run-file key, value)."""
    layers = shape.fields["num_layers"]
    for key in ("decoder_sparse_step", "interleave_moe_layer_step", "moe_layer_freq"):
        step = config.get(key)
        if not isinstance(step, int) or isinstance(step, bool) or step < 1:
            continue
        if step <= 2:
            yield key, "dense_layer_every", 2 if step == 2 else 0
        else:
            shape.problems.append(
                f"{key}: {step}; allowed: 1 or 2, every layer or every other one has experts"
            )
    yield from _listed_experts(config, shape)
    only = config.get("mlp_only_layers")
    if isinstance(only, list) and only:
        first = len(only)
        if sorted(map(str, only)) == sorted(map(str, range(first))) and first <= layers:
            yield "mlp_only_layers", "num_dense_layers", first
        else:
            shape.problems.append(
                f"mlp_only_layers: {format_value(only)}; allowed: none, or the first layers of "
                "the model"
            )


def _listed_experts(config: Config, shape: ModelShape) -> Iterator[tuple[str, str, int]]:
    """Yield the leading dense layers of lists with an entry for each layer."""
    layers = shape.fields["num_layers"]
    for key, sparse in _sparse_lists(config, shape):
        first = sparse.index(True) if any(sparse) else len(sparse)
        if len(sparse) != layers:
            shape.problems.append(
                f"{key}: {len(sparse)} entries; allowed: one for each of the {layers} layers"
            )
        elif all(sparse[first:]):
            yield key, "num_dense_layers", first
        else:
            dense = [number for number, has in enumerate(sparse, 1) if not has and number > first]
            shape.problems.append(
                f"{key}: layers {ranges(dense)} without experts: not priced; allowed: such layers "
                "at the start alone"
            )


def _sparse_lists(config: Config, shape: ModelShape) -> Iterator[tuple[str, list[bool]]]:
    """Yield the lists of layers with experts: (key, whether each layer has experts)."""
    layers = shape.fields["num_layers"]
    for key in ("moe_layers_enum", "moe_layers"):
        numbers = config.get(key)
        if isinstance(numbers, str):
            numbers = [int(word) for word in numbers.split(",") if word.strip().isdecimal()]
        if isinstance(numbers, list) and numbers:
            yield key, [number in numbers for number in range(layers)]
    for key, dense, sparse in (("moe_layer_freq", 0, 1), ("mlp_layer_types", "dense", "sparse")):
        entries = config.get(key)
        if not isinstance(entries, list) or not entries:
            continue
        entries = [sparse if entry in ("moe", "hash_moe") else entry for entry in entries]
        unknown = [entry for entry in entries if entry not in (dense, sparse)]
        if unknown:
            shape.problems.append(
                f"{key}: {format_value(unknown[0])}: not priced; allowed: {dense} or {sparse} for "
                "each layer"
            )
        else:
            yield key, [entry == sparse for entry in entries]
