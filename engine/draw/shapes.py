"""SVG text and rectangle shapes."""

from functools import lru_cache

from engine.core.views import Shape


# The same shape for the same words: what does not change between two frames is not compared.
@lru_cache(maxsize=16_384)
def text(
    key: str,
    x: float,
    y: float,
    size: float,
    words: str,
    anchor: str = "middle",
    kind: str = "c-ink",
) -> Shape:
    """Return a text shape."""
    attributes = {
        "x": f"{x:.1f}",
        "y": f"{y:.1f}",
        "font-size": f"{size:g}",
        "text-anchor": anchor,
        "class": kind,
    }
    return Shape(key=key, tag="text", attributes=attributes, text=words)


@lru_cache(maxsize=16_384)
def rect(
    key: str,
    corner: tuple[float, float],
    size: tuple[float, float],
    kind: str,
    more: tuple[tuple[str, str], ...],
) -> Shape:
    """Return a rectangle shape."""
    attributes = {
        "x": f"{corner[0]:.1f}",
        "y": f"{corner[1]:.1f}",
        "width": f"{size[0]:.1f}",
        "height": f"{size[1]:.1f}",
        "class": kind,
        **dict(more),
    }
    return Shape(key=key, tag="rect", attributes=attributes)
