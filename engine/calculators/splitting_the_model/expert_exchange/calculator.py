"""Token exchange of expert parallelism: bytes, links, nodes and overlap."""

from collections.abc import Mapping
from functools import partial

from engine.calculators.splitting_the_model.expert_exchange.result import LIMITS, Inputs, Result
from engine.calculators.splitting_the_model.expert_exchange.result import solve as solve
from engine.catalog.measured_exchanges import SOURCE
from engine.core.inputs import Scalar
from engine.core.outputs import Presenter, Views
from engine.core.text import say
from engine.core.units import BANDWIDTH, BYTES, COUNT, MILLI, SECONDS, with_digits
from engine.core.views import (
    Axis,
    Badge,
    Bar,
    Bars,
    Challenge,
    Citation,
    Condition,
    Line,
    Lines,
    Point,
    Scale,
    Segment,
    Table,
)
from engine.form.plural import pluralize
from engine.formulas.experts import EXCHANGE_BYTES

TITLE = "Sending tokens to experts, and back"
QUESTION = "What does it cost to send tokens to experts on other GPUs?"
HEADLINE = "step"
EQUATIONS = (EXCHANGE_BYTES,)
PRESETS = {
    "A plain all-to-all in bf16": {"way": "copies", "nodes_limit": 0, "dispatch": "bf16"},
    "DeepSeek-V3 on H800": {"machine": "h800"},
    "One rack of 72 GPUs": {"machine": "gb200-nvl72"},
    "Mixtral 8x7B in one node": {
        "model": "mixtral-8x7b",
        "expert_parallel": 8,
        "nodes_limit": 0,
        "dispatch": "bf16",
    },
    "One expert four times as hot": {"hot": 4.0},
}


def views(inputs: Inputs, result: Result) -> Views:
    """Return the views, in the order of the page."""
    present = Presenter(result, inputs, equations=EQUATIONS)
    return {
        **present.values("time"),
        "sent": present.value("sent", symbols={"T": "num_tokens"}),
        **present.values("token_out", "claimed", "products", "ratio", "load", "step"),
        "regime": regime(present, result),
        "over_ranks": partial(over_ranks, present, result),
        "over_limits": partial(over_limits, result),
        "formula": present.formula("With your numbers", EXCHANGE_BYTES, T="num_tokens"),
        "measured": partial(measured, result),
        "challenge": challenge(inputs, result),
    }


# The charts of an exchange of tokens: over the ranks, over the limit of nodes, and measured.


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
    links = [point.links for point in points]
    network = [point.network for point in points]
    products = [point.products for point in points]
    return present.curve(
        "Out and back, over the ranks that share the experts",
        over=Scale("expert_parallel", "ranks", 1.0, 256.0, log=True),
        shows=Scale(SECONDS, "time", 0.0, 1.1 * max(*links, *network, *products)),
        x=[point.ranks for point in points],
        lines=(
            Line("links", "links in the node", links, "expert"),
            Line("network", "network", network, "communication"),
            Line("products", "expert products", products, "compute", dashed=True),
        ),
        marked=False,
        points=(Point(key="now", label=present.say("{time}"), x=result.ranks, y=result.time),),
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


# A challenge on the exchange: make it fit behind the products of the experts.

_MOST, _RANKS = 6 * MILLI, 32
START: Mapping[str, Scalar] = {
    "model": "deepseek-v3",
    "machine": "dgx-h100",
    "num_tokens": 4096,
    "expert_parallel": 64,
    "nodes_limit": 0,
    "way": "copies",
    "dispatch": "bf16",
    "combine": "bf16",
}
SOLUTION: Mapping[str, Scalar] = {
    **START,
    "nodes_limit": 3,
    "way": "nodes",
    "dispatch": "fp8",
}


def challenge(inputs: Inputs, result: Result) -> Challenge:
    """Return the challenge for the inputs."""
    same = (inputs.model, inputs.machine, inputs.num_tokens) == tuple(
        START[name] for name in ("model", "machine", "num_tokens")
    )
    return Challenge(
        title="Challenge: out and back in six milliseconds",
        goal="DeepSeek-V3 on H100 in nodes of eight: bring the exchange of a layer down, with the "
        "experts over at least 32 GPUs and results still in bf16.",
        conditions=(
            Condition(
                text="DeepSeek-V3 on DGX H100, 4,096 tokens per GPU, no hot expert",
                met=same and inputs.hot == 1,
            ),
            Condition(text="experts over 32 GPUs or more", met=result.ranks >= _RANKS),
            Condition(
                text=say("a token may reach {n} nodes or more", n=(2, COUNT)),
                met=inputs.nodes_limit != 1,
            ),
            Condition(text="results come back in bf16", met=inputs.combine == "bf16"),
            Condition(
                text=say("out and back in {t} or less", t=(_MOST, with_digits(SECONDS))),
                met=result.time <= _MOST,
            ),
        ),
        hints=(
            "Eight copies of a token that go to the same node need to cross the network once.",
            "Fewer nodes per token mean fewer copies; the way out may be in fp8.",
        ),
        start=START,
        solution=SOLUTION,
    )
