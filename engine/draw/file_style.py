"""The look of a picture that leaves the page: what the page's own style sheets give it there."""

from collections.abc import Mapping

from engine.draw.frame import STRIPES

# The light one; theme/styles holds the page's.
PALETTE: Mapping[str, str] = {
    "paper": "#fdfcf9", "ink": "#22242a", "muted": "#5d6068", "hairline": "#dcd7cb",
    "idle": "#c9c5bb", "accent": "#4a3fc4",
    "compute": "#1096ea", "communication": "#d47a00", "memory": "#005148",
    "parameters": "#004c7a", "gradients": "#be6800", "optimizer": "#9878c2",
    "activations": "#599b85", "buffers": "#8b002f",
    "tensor": "#7c111d", "pipeline": "#4d8ae9", "data": "#819668", "context": "#006e6d",
    "expert": "#9b5c00",
}  # fmt: skip

CHART_RULES = (
    "svg{fill:currentColor;font:13px system-ui,sans-serif}"
    ".strong,.inside{font-weight:600}.tick{font-size:12px}.cell{font-size:11px}"
    ".halo{paint-order:stroke;stroke:#fdfcf9;stroke-width:4px;stroke-linejoin:round}"
    ".line,.stripes{fill:none;stroke:currentColor;vector-effect:non-scaling-stroke}"
    ".curve,.dashed{stroke-width:2.25px;stroke-linejoin:round}.dashed{stroke-dasharray:6 4}"
    ".swatch{stroke-width:12px}.idle{stroke-width:24px;stroke-dasharray:2 4}"
    ".rule{stroke-width:1.25px;stroke-dasharray:3 3}.drop{stroke-dasharray:1 3}"
    ".ring{fill:#fdfcf9;stroke:currentColor;stroke-width:2.5px}"
    f".stripes{{stroke:#fdfcf9;stroke-dasharray:{STRIPES[0]} {STRIPES[1]}}}"
)

SCENE_RULES = (
    "text{fill:currentColor;font-family:system-ui,sans-serif}"
    ".rank,.message{fill:#fdfcf9}.cell,.sent{fill:currentColor}.port{fill:none}"
    ".cell,.port{stroke:#dcd7cb}.cell.done{stroke:#22242a;stroke-width:2.5}"
    ".link{stroke:currentColor;stroke-width:2}.message{stroke:currentColor;stroke-width:2.5}"
    ".message-value{fill:#22242a}"
)
