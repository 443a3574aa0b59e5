"""The names by which views link the groups that ranks belong to."""

from engine.core.units import Count
from engine.form.axis_names import SHORT
from engine.simulate.layer.device_model import Axis
from engine.simulate.step.mapped_plan import MappedPlan
from engine.simulate.step.rank_map import Ranks


def links_of(plan: MappedPlan, rank: Count) -> dict[Axis, str]:
    """Return the name of each group that a rank belongs to, by axis."""
    return {axis: _link(axis, plan.mesh.group(axis, rank)) for axis in plan.traffic}


def all_links(plan: MappedPlan) -> tuple[dict[Axis, str], ...]:
    """Return the links of every rank."""
    names: tuple[dict[Axis, str], ...] = tuple({} for _ in range(plan.mesh.world_size))
    for axis in plan.traffic:
        for ranks in plan.mesh.groups(axis):
            name = _link(axis, ranks)
            for rank in ranks:
                names[rank][axis] = name
    return names


def _link(axis: Axis, ranks: Ranks) -> str:
    return f"group:{SHORT[axis].lower()}:{ranks[0]}"
