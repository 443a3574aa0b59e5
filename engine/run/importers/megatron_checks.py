"""Assertions of Megatron-LM on the sizes of a job, in its own words.

Source: megatron-core 0.19.2: `training/arguments.py`, and of `core/` `parallel_state.py`,
`num_microbatches_calculator.py`, `transformer/transformer_config.py` and `transformer_block.py`.
"""

from engine.run.importers.import_report import RunDraft, positive_number


def check_world(draft: RunDraft, world: int) -> str:
    """Return Megatron's error for the world size, or an empty text."""
    get = draft.get
    parts = get("parallelism.tensor_parallel") * get("parallelism.pipeline_parallel")
    parts *= get("parallelism.context_parallel")
    if world % parts == 0:
        return ""
    return f"world size ({world}) is not divisible by total_model_size (total_model_size={parts})"


def check_experts(draft: RunDraft, world: int) -> str:
    """Return Megatron's error for expert parallelism, or an empty text."""
    get = draft.get
    ranks, experts = get("parallelism.expert_parallel"), get("model.num_experts", 0)
    if ranks > 1 and "model.num_layers" in draft.values:
        if not experts:
            return "num_experts must be non None to use expert model parallelism"
        if experts % ranks:
            return (
                "Number of experts should be a multiple of expert model parallel_size: "
                f"{experts} experts, {ranks} ranks"
            )
    split = ranks * get("parallelism.expert_tensor_parallel")
    split *= get("parallelism.pipeline_parallel")
    if world % split == 0:
        return ""
    return (
        f"world_size ({world}) is not divisible by expert_tensor_model_pipeline_parallel "
        f"size ({split})"
    )


def check_batch(draft: RunDraft, ranks: int) -> str:
    """Return Megatron's error for the global batch size, or an empty text."""
    micro, batch = draft.get("training.micro_batch_size"), draft.get("training.global_batch_size")
    if batch % (micro * ranks) == 0:
        return ""
    return (
        f"global batch size ({batch}) is not divisible by micro batch size ({micro}) times data "
        f"parallel size ({ranks})"
    )


def check_layers(draft: RunDraft) -> str:
    """Return Megatron's error for layers per pipeline stage, or an empty text."""
    layers, stages = draft.get("model.num_layers", 0), draft.get("parallelism.pipeline_parallel")
    heads, split = (
        draft.get("model.num_attention_heads", 0),
        draft.get("parallelism.tensor_parallel"),
    )
    if heads % split:
        return (
            f"num_attention_heads ({heads}) must be a multiple of tensor_model_parallel_size "
            f"({split})."
        )
    layout = draft.values.get("parallelism.pipeline_layout")
    if layout:
        return _check_layout(len(layout), stages)
    if not layers or stages < 2:
        return ""
    return _check_even(draft, layers + int(draft.notes.get("counted_as_layers", 0)), stages)


def _check_layout(pieces: int, stages: int) -> str:
    if pieces % stages == 0:
        return ""
    return (
        "The length of pipeline_model_parallel_layout must be divisible by "
        f"pipeline_model_parallel_size (num_stages={pieces}, "
        f"args.pipeline_model_parallel_size={stages})"
    )


def _check_even(draft: RunDraft, layers: int, stages: int) -> str:
    each = positive_number(draft.notes.get("num-layers-per-virtual-pipeline-stage"))
    if layers % stages:
        problem = (
            "number of layers of the model must be divisible pipeline model parallel size"
            if each
            else "Number of layers should be divisible by the pipeline-model-parallel size"
        )
        return f"{problem}: {layers} layers, {stages} stages"
    if each and layers // stages % each:
        return (
            "number of layers per pipeline stage must be divisible number of layers per virtual "
            f"pipeline stage: {layers // stages} layers, {each} in each"
        )
    virtual = draft.get("parallelism.virtual_pipeline")
    if layers // stages % virtual:
        return (
            f"num_layers_per_pipeline_rank {layers // stages} should be divisible by vp_size "
            f"{virtual}"
        )
    return ""
