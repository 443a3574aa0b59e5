"""SVG files as PNG files of few colors; none uses a font of the system, so all machines agree."""

import io
import multiprocessing
from collections.abc import Iterable, Mapping
from functools import partial
from pathlib import Path

COLORS = 128  # of the palette; a figure has a dozen, the rest smooths their edges
_FEW = 6  # that are drawn before other processes have started


def pngs(svgs: Mapping[str, str], fonts: Iterable[Path]) -> dict[str, bytes]:
    """Return name -> the drawing in its own size, drawn by all processors.

    Args:
        svgs: name -> SVG that says its width and height, and the families of `fonts` by name.
        fonts: TrueType files.
    """
    draw = partial(png, fonts=tuple(map(str, fonts)))
    if len(svgs) <= _FEW:
        return {name: draw(svg) for name, svg in svgs.items()}
    # Started anew, not forked: the builder has threads.
    with multiprocessing.get_context("spawn").Pool() as pool:
        return dict(zip(svgs, pool.map(draw, svgs.values(), chunksize=2), strict=True))


def png(svg: str, fonts: tuple[str, ...]) -> bytes:
    """Return one drawing."""
    import resvg_py
    from PIL import Image

    drawn = resvg_py.svg_to_bytes(svg_string=svg, skip_system_fonts=True, font_files=list(fonts))
    with Image.open(io.BytesIO(drawn)) as image:
        small = image.convert("RGB").quantize(
            COLORS, method=Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE
        )
    out = io.BytesIO()
    small.save(out, "PNG")
    return out.getvalue()
