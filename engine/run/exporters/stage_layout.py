"""The layers of each stage as Megatron-LM's pipeline layout: E embedding, t layer, L loss."""

from collections.abc import Sequence

from engine.core.units import Count


def format_layout(stage_layers: Sequence[Count]) -> str:
    """Return the layout, a stage after the other: "Et*20|t*20|t*20|t*20L".

    Source: Megatron-LM, --pipeline-model-parallel-layout.
    """
    pieces = [_format_layers(count) for count in stage_layers]
    pieces[0] = f"E{pieces[0]}"
    pieces[-1] = f"{pieces[-1]}L"
    return "|".join(pieces)


def _format_layers(count: Count) -> str:
    if count == 0:
        return ""
    return "t" if count == 1 else f"t*{count}"
