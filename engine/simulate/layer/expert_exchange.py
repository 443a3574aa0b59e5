"""One exchange of tokens with their experts: bytes over links and network, and its time."""

from engine.core.record import record
from engine.core.units import Bandwidth, Bytes, Count, Ratio, Seconds, Tokens
from engine.formulas.expert_places import reached
from engine.formulas.send_time import all_to_all_time, send_time
from engine.simulate.layer.device_model import Group, Rank


@record
class Routes:
    """How copies of a token reach their experts.

    Attributes:
        copies: experts of a token.
        joined: over the network travels one copy for all experts of a node.
        most: nodes that the experts of a token may lie in; 0: any.
    """

    copies: Count
    joined: bool
    most: Count = 0


@record
class Exchanged:
    """What one rank sends in one exchange, and the time.

    Attributes:
        inside: bytes over the links, to other ranks.
        across: bytes over the rank's port, to other nodes.
        nodes: copies of a token that the network counts, those for its own node included.
        inside_time: of the links.
        across_time: of the port; 0 in one node.
        link: the rate of the links in an all-to-all.
    """

    inside: Bytes
    across: Bytes
    nodes: Ratio
    inside_time: Seconds
    across_time: Seconds
    link: Bandwidth

    @property
    def time(self) -> Seconds:
        """Links and network work at the same time: the slower one counts."""
        return max(self.inside_time, self.across_time)


def exchanged(tokens: Tokens, size: Bytes, routes: Routes, rank: Rank, group: Group) -> Exchanged:
    """Return an exchange of so many tokens of `size` bytes each, experts evenly used.

    Over the network travels either each copy by itself, or one copy per node, from there on to the
    experts of that node over the links (DeepEP). Copies for experts of the same rank are counted
    each, which is too many by a few percent where there are many ranks.
    """
    common = rank.common
    link = rank.scale_up * (common.exchange_nodes if routes.joined else common.exchange)
    if group.ranks == 1:
        return Exchanged(
            inside=0.0, across=0.0, nodes=1.0, inside_time=0.0, across_time=0.0, link=link
        )
    copies, nodes = routes.copies, group.nodes
    inside = tokens * copies * size * (group.ranks - 1) / group.ranks
    if nodes == 1:
        alone = inside / link + send_time(0.0, rank.scale_up, 1)
        return Exchanged(
            inside=inside, across=0.0, nodes=1.0, inside_time=alone, across_time=0.0, link=link
        )
    places = reached(nodes, copies, routes.most) if routes.joined else float(copies)
    across = tokens * size * places * (nodes - 1) / nodes
    return Exchanged(
        inside=inside,
        across=across,
        nodes=places,
        inside_time=inside / link,
        across_time=(
            send_time(across, rank.port, 2, rank.network)
            if routes.joined
            else all_to_all_time(
                tokens * size * places, group.ranks, nodes, rank.port, rank.network
            )
        ),
        link=link,
    )
