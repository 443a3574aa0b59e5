"""How far published steps lie from predicted ones where the layers of a model differ.

No constant is fitted to such models. Nine rows of Megatron-Bridge 26.08
(`engine.catalog.mixed_runs`: Nemotron 3 Nano, Super and Ultra, DeepSeek-V4-Flash; GB200 and GB300,
8 to 256 GPUs) took up to so many times the predicted step if their layers of multi-token prediction
are left out, and 1.1 to 1.9 times with them.
"""

from engine.core.units import Ratio

SLOWER: Ratio = 2.1
NOTE = (
    "The layers of this model differ, and no constant is fitted to such models: published steps "
    "took 1.1 to 1.9 times as long as predicted, and 2.1 times without their layers of multi-token "
    "prediction."
)
