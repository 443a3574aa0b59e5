"""Modeled rates of the ring attentions measured in `engine.catalog.measured_rings`."""

from engine.catalog.accelerators import ACCELERATORS
from engine.catalog.measured_rings import MEASURED_RINGS, RANKS, TOKENS, MeasuredRing
from engine.catalog.models import MODELS
from engine.core.units import Gbit, Ratio
from engine.formulas.operations import attention_scores
from engine.run.parallelism import Cluster, Plan, Training
from engine.simulate.layer.attention_masks import Layout
from engine.simulate.layer.context_exchange import context_ring
from engine.simulate.layer.device_model import rank_rates
from engine.simulate.layer.ring_layouts import ring_waits


def modeled_rate(row: MeasuredRing, layout: Layout) -> Ratio:
    """Return the modeled passes per second of a row: its own attention plus the ring's overhead.

    Computation is taken from the row (`even`), so that only the ring is modelled. A layer's
    kernels are not fused in that library.
    """
    training = Training(
        micro_batch_size=1,
        global_batch_size=1,
        sequence_length=RANKS * TOKENS,
        compiled=False,
    )
    plan = Plan(world_size=RANKS, context_parallel=RANKS)
    cluster = Cluster(
        gpu=ACCELERATORS[row.gpu], gpus_per_node=8, nics_per_node=8, nic_bandwidth=400 * Gbit
    )
    rank = rank_rates(cluster, training)
    scores = attention_scores(MODELS["llama-3-8b"], plan, training)
    ring = context_ring(scores, plan, training, rank)
    forward = next(
        measured for measured in MEASURED_RINGS if measured.gpu == row.gpu and not measured.backward
    )
    core = (1 / forward.even, 1 / row.even - 1 / forward.even if row.backward else 0.0)
    waits = ring_waits(ring, core, layout)
    time = core[0] + waits[0] + ring.merged[0]
    if row.backward:
        time += core[1] + waits[1] + ring.merged[1]
    return 1 / time
