"""How far published steps lie from predicted ones where the layers of a model differ.

No constant is fitted to such models. Six rows of Megatron-Bridge 26.08 (Nemotron 3 Nano and Super,
DeepSeek-V4-Flash; GB200 and GB300, 8 to 128 GPUs), which do not say what is recomputed, took up to
so many times the step that is predicted without recomputation.
"""

from engine.core.units import Ratio

SLOWER: Ratio = 2.0
NOTE = (
    "The layers of this model differ, and no constant is fitted to such models: published steps "
    "took up to twice the predicted time."
)
