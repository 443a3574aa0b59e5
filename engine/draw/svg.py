"""Static SVG of any chart or scene."""

from engine.text import Display
from engine.views import View


def svg_text(view: View, display: Display) -> str:
    """Placeholder until the charts are drawn."""
    raise NotImplementedError((view, display))
