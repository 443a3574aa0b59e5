"""The charts of an exchange of tokens: over the ranks, over the limit of nodes, and measured."""

from engine.calculators.splitting_the_model.expert_exchange.job import LIMITS
from engine.calculators.splitting_the_model.expert_exchange.result import Result
from engine.catalog.measured_exchanges import SOURCE
from engine.core.outputs import Presenter
from engine.core.text import say
from engine.core.units import BANDWIDTH, BYTES, COUNT, SECONDS
from engine.core.views import Axis, Badge, Bar, Bars, Citation, Lines, Point, Segment, Series, Table
from engine.form.plural import pluralize


def regime(present: Presenter, result: Result) -> Badge:
    """Return the exchange's bottleneck, and whether the experts' products could hide it."""
    if result.ranks == 1:
        return Badge(
            text="No exchange",
            sentence="All experts are on every GPU; no token has to travel.",
            color="compute",
        )
    hidden = "could hide behind" if result.ratio <= 1 else "is longer than"
    if result.network > result.links:
        return Badge(
            text="Bound by the network",
            sentence=present.say(
                f"The ports need {{network}}, the links {{links}}. The exchange {hidden} the "
                "products of the experts, {products}."
            ),
            color="communication",
        )
    return Badge(
        text="Bound by the links in the node",
        sentence=present.say(
            f"The links need {{links}}, the ports {{network}}. The exchange {hidden} the products "
            "of the experts, {products}."
        ),
        color="expert",
    )


def over_ranks(present: Presenter, result: Result) -> Lines:
    """Return the time of the exchange on links and network over the number of ranks."""
    points = result.over_ranks()
    columns = {
        "links": tuple(point.links for point in points),
        "network": tuple(point.network for point in points),
        "products": tuple(point.products for point in points),
    }
    most = 1.1 * max(max(column) for column in columns.values())
    numbers = tuple(float(point.ranks) for point in points)
    looks = {
        "links": ("links in the node", "expert"),
        "network": ("network", "communication"),
        "products": ("expert products", "compute"),
    }
    return Lines(
        title="Out and back, over the ranks that share the experts",
        x=present.axis("expert_parallel", "ranks", low=1.0, high=256.0, scale="log"),
        y=Axis(label="time", quantity=SECONDS, low=0.0, high=most),
        series=tuple(
            Series(
                key=key,
                label=looks[key][0],
                x=numbers,
                y=column,
                color=looks[key][1],
                dashed=key == "products",
            )
            for key, column in columns.items()
        ),
        points=(
            Point(key="now", label=present.say("{time}"), x=float(result.ranks), y=result.time),
        ),
        handle="expert_parallel",
        caption="One layer, forward. Links and network work at the same time: the higher of the "
        "two counts.",
    )


def over_limits(result: Result) -> Bars:
    """Return the bytes over the network for every limit of nodes."""
    *sizes, copies = result.over_limits()
    bars = []
    for limit, size in zip(LIMITS, sizes, strict=True):
        name = f"at most {limit} {pluralize(limit, 'node')}" if limit else "any node"
        bars.append(_bar(f"limit{limit}", name, size))
    bars.append(_bar("copies", "each copy by itself", copies))
    most = max(*sizes, copies)
    return Bars(
        title="What crosses the network, by the nodes that a token may reach",
        axis=Axis(label="out and back, per GPU", quantity=BYTES, low=0.0, high=1.05 * most or 1.0),
        bars=tuple(bars),
        caption=say("{n} nodes share the experts here.", n=(result.job.group.nodes, COUNT)),
    )


def _bar(key: str, label: str, size: float) -> Bar:
    segment = Segment(key=key, label="network", value=size, color="communication")
    return Bar(key=key, label=label, segments=(segment,))


def measured(result: Result) -> Table:
    """Return DeepEP's printed bandwidths, their rates per wire, and the modeled rates."""
    rows = []
    for wires in result.measured():
        row, network, links = wires.row, wires.network, wires.links
        rows.append(
            (
                say("{n} GPUs", n=(row.ranks, COUNT)),
                say(f"{{b}}, {row.link}", b=(row.dispatch, BANDWIDTH)),
                say("{b}", b=(network, BANDWIDTH)) if network else "-",
                say("{b}", b=(wires.port, BANDWIDTH)) if network else "-",
                say("{b}", b=(links, BANDWIDTH)),
                say("{b}", b=(wires.link, BANDWIDTH)),
                "links" if links / wires.link > network / wires.port else "network",
                Citation((SOURCE,)),
            )
        )
    return Table(
        title="DeepEP on H800, dispatch, beside the rates of this page",
        columns=(
            "Experts over",
            "Printed",
            "Network: on the wire",
            "Modeled",
            "NVLink: arriving",
            "Modeled",
            "Nearer its limit",
            "Source",
        ),
        rows=tuple(rows),
        caption="Printed counts a token once per node, its own node included. On the wire: less "
        "the share that stays in its node. Arriving: each token once per GPU that it goes to.",
    )
