"""Uneven pipeline layouts in Megatron's arguments."""

import re
from collections.abc import Mapping
from typing import Any

from engine.run.importers.import_report import RunDraft, whole_number

_MOST = 4096


def read_layout(draft: RunDraft, notes: Mapping[str, Any]) -> tuple[list[int], str] | None:
    """Return the layers of each piece and the argument's name, or None if they are even."""
    layers, ranks = draft.get("model.num_layers", 0), draft.get("parallelism.pipeline_parallel")
    text = notes.get("pipeline-model-parallel-layout")
    if isinstance(text, str) and text not in ("", "None"):
        sizes = parse_layout(text)
        if sizes and len(sizes) % ranks == 0 and len(sizes) > ranks:
            draft.derive(
                "parallelism.virtual_pipeline", len(sizes) // ranks, "pieces of the layout"
            )
        return (sizes, "--pipeline-model-parallel-layout") if sizes else None
    first = whole_number(notes.get("decoder-first-pipeline-num-layers"))
    last = whole_number(notes.get("decoder-last-pipeline-num-layers"))
    if (first is None and last is None) or not layers or ranks < 2 or ranks > _MOST:
        return None
    between = ranks - (first is not None) - (last is not None)
    left = layers - (first or 0) - (last or 0)
    if left < 0 or (between and left % between) or (not between and left):
        draft.contradictions.append(
            f"number of layers at middle stage: {left} must be divisible by the middle pipeline "
            f"model parallel size {between}"
        )
        return None
    ends = ([] if first is None else [first], [] if last is None else [last])
    middle = [left // between] * between if between else []
    return [*ends[0], *middle, *ends[1]], "--decoder-first- and --decoder-last-pipeline-num-layers"


def parse_layout(text: str) -> list[int]:
    """Return the layers of each piece of a layout: "E|(t|)*3,m|m||L" has none, 1, 1, 1, 0 ...

    t is a layer, E, m and L are embedding, prediction and loss; `(...)*n` and `x*n` repeat.
    """
    if not re.fullmatch(r"[EtmL|()*\d,\s'\"]+", text[:500]):
        return []
    spread = _expand_repeats(text.replace(",", "").replace(" ", "").strip("'\""))
    sizes = [piece.count("t") for piece in spread.split("|")]
    return sizes if "t" in spread and len(sizes) <= _MOST else []


def _expand_repeats(text: str) -> str:
    text = text[:500]
    for pattern in (r"\(([^()]{0,100})\)\*(\d{1,3})", r"([A-Za-z|])\*(\d{1,3})"):
        for _ in range(20):
            text = re.sub(pattern, lambda match: match[1] * int(match[2]), text, count=8)
            if len(text) > 20_000:
                return ""
    return text
