"""Token exchange of expert parallelism: bytes over links and network, and time."""

from engine.core.record import record
from engine.core.units import Bandwidth, Bytes, Count, Ratio, Seconds, Tokens
from engine.formulas.expert_places import reached
from engine.formulas.send_time import all_to_all_time, send_time
from engine.simulate.layer.device_model import RankGroup, RankRates


@record
class TokenRoutes:
    """Routing of token copies to experts.

    Attributes:
        copies: experts per token.
        joined: whether one copy crosses the network for all experts of a node.
        most: maximum number of nodes with experts of a token; 0 for any.
    """

    copies: Count
    joined: bool
    most: Count = 0


@record
class TokenExchange:
    """Bytes and times of one rank in one exchange.

    Attributes:
        inside: bytes over the links, to other ranks.
        across: bytes over the rank's port, to other nodes.
        nodes: network copies per token, those for its own node included.
        inside_time: time of the links.
        across_time: time of the port; 0 in one node.
        link: all-to-all bandwidth of the links.
    """

    inside: Bytes
    across: Bytes
    nodes: Ratio
    inside_time: Seconds
    across_time: Seconds
    link: Bandwidth

    @property
    def time(self) -> Seconds:
        """Time of the slower of links and network, which overlap."""
        return max(self.inside_time, self.across_time)


def exchange_tokens(
    tokens: Tokens, size: Bytes, routes: TokenRoutes, rank: RankRates, group: RankGroup
) -> TokenExchange:
    """Return the exchange of a number of tokens of `size` bytes each, experts evenly used.

    Over the network travels either each copy by itself, or one copy per node, from there on to the
    experts of that node over the links (DeepEP). Copies for experts of the same rank are counted
    each, which is too many by a few percent where there are many ranks.
    """
    common = rank.common
    link = rank.scale_up * (common.exchange_nodes if routes.joined else common.exchange)
    if group.ranks == 1:
        return TokenExchange(
            inside=0.0, across=0.0, nodes=1.0, inside_time=0.0, across_time=0.0, link=link
        )
    copies, nodes = routes.copies, group.nodes
    inside = tokens * copies * size * (group.ranks - 1) / group.ranks
    if nodes == 1:
        link_time = inside / link + send_time(0.0, rank.scale_up, 1)
        return TokenExchange(
            inside=inside, across=0.0, nodes=1.0, inside_time=link_time, across_time=0.0, link=link
        )
    copies_per_token = reached(nodes, copies, routes.most) if routes.joined else float(copies)
    across = tokens * size * copies_per_token * (nodes - 1) / nodes
    return TokenExchange(
        inside=inside,
        across=across,
        nodes=copies_per_token,
        inside_time=inside / link,
        across_time=(
            send_time(across, rank.port, 2, rank.network)
            if routes.joined
            else all_to_all_time(
                tokens * size * copies_per_token, group.ranks, nodes, rank.port, rank.network
            )
        ),
        link=link,
    )
