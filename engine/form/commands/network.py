"""Commands that look at the network: InfiniBand, Ethernet with RoCE, and EFA."""

from engine.form.commands.command import Command

COMMANDS = {
    "perfquery": Command(
        name="perfquery",
        layer="infiniband",
        version="infiniband-diags of rdma-core",
        text="""\
perfquery -C <device> -P 1
perfquery -x -C <device> -P 1
""",
        fields=("device",),
        options=(
            ("-C, -P", "The adapter and its port; with a LID, a port of another node or switch."),
            ("-x", "Extended counters, 64 bits: data and packets."),
            ("-r", "Also sets them to zero. Better: read twice, and take the difference."),
        ),
        sample=(
            (
                "SymbolErrorCounter:..............12",
                "Errors on the lanes: a cable or a transceiver.",
            ),
            ("LinkDownedCounter:...............1", "The link went down once."),
            (
                "PortXmitWait:....................22730501",
                "Ticks with data to send and no credit: congestion, or a slow receiver.",
            ),
            ("PortXmitData:....................26006570014026", "Counts four octets each."),
        ),
        healthy="Errors and link-downs do not grow. PortXmitWait is never zero under load; "
        "compare ports.",
        relation="One bad port slows every ring that passes through it.",
        sources=("perfquery", "ib_counters"),
    ),
    "ethtool": Command(
        name="ethtool",
        layer="ethernet",
        version="Linux, driver mlx5",
        text="""\
ethtool -S <interface> | grep -E 'prio3_pause|discards|link_down_events_phy|symbol_err'
""",
        fields=("interface",),
        options=(
            ("-S", "The driver's own counters; other makers name them differently."),
            ("prio3", "The priority that often carries RoCE; ask your network for yours."),
        ),
        sample=(
            ("rx_prio3_pause: 15234", "The switch told this port to stop: congestion beyond it."),
            ("tx_prio3_pause: 0", "This port told the switch to stop: the host is too slow."),
            ("link_down_events_phy: 2", "The link fell twice: cable or transceiver."),
            ("rx_pcs_symbol_err_phy: 0", "Errors that were not corrected."),
        ),
        healthy="Pauses that do not grow in proportion to the traffic; no error that grows.",
        relation="A paused port sends nothing on that priority, and the collective waits.",
        sources=("mlx5_counters",),
    ),
    "rdma": Command(
        name="rdma",
        layer="ethernet",
        version="iproute2",
        text="rdma statistic show link <device>/1\n",
        fields=("device",),
        options=(("show link", "The hardware counters of one port, as in /sys/class/infiniband."),),
        sample=(
            ("out_of_sequence 0", "Packets that came in the wrong order, or after a loss."),
            ("local_ack_timeout_err 3", "The other side did not answer in time: packets are lost."),
            ("np_cnp_sent 88120", "This receiver told senders to slow down."),
            ("rp_cnp_handled 91004", "This sender was told to slow down, and did."),
        ),
        healthy="No timeouts. Congestion notifications are normal; compare ports.",
        relation="A packet lost at the end of a message costs a timeout: more than a collective.",
        sources=("rdma_statistic",),
    ),
    "fi_info": Command(
        name="fi_info",
        layer="efa",
        version="libfabric of the EFA installer",
        text="fi_info -p efa -t FI_EP_RDM\n",
        fields=(),
        options=(
            ("-p efa", "Only this provider."),
            ("-t FI_EP_RDM", "Only reliable datagram endpoints."),
        ),
        sample=(
            ("provider: efa", "The device is there. No line at all: NCCL falls back to TCP."),
            ("domain: rdmap0s31-rdm", "One for each adapter: count them."),
        ),
        healthy="As many domains as the instance has EFA adapters.",
        relation="Without EFA every collective between nodes runs over sockets.",
        sources=("aws_efa",),
    ),
    "fi_pingpong": Command(
        name="fi_pingpong",
        layer="efa",
        version="libfabric of the EFA installer",
        text="""\
# on one node
fi_pingpong -p efa
# on another
fi_pingpong -p efa <peer>
""",
        fields=("peer",),
        options=(
            ("-p efa", "EFA or nothing: it does not fall back to TCP."),
            ("the address", "Of the node that runs the first command."),
        ),
        sample=(
            ("bytes #sent #ack total time MB/sec usec/xfer", "The head of the table."),
            (
                "64    10    =10  1.2k  0.00s  1.73  37.0",
                "A pair of nodes can talk. If it hangs: security group, or different placement.",
            ),
        ),
        healthy="It ends. It is a check, no benchmark; use nccl-tests for bandwidth.",
        relation="Tells a network that is closed from one that is slow.",
        sources=("aws_efa",),
    ),
    "efa_counters": Command(
        name="EFA counters",
        layer="efa",
        version="Linux, driver efa",
        text="""\
ls /sys/class/infiniband
grep . /sys/class/infiniband/rdmap0s31/ports/1/hw_counters/*
""",
        fields=(),
        options=(
            ("ls", "The names of the adapters; rdmap0s31 is one."),
            ("grep .", "Prints every counter with the name of its file."),
        ),
        sample=(
            (".../hw_counters/tx_bytes:85466418782288", "Sent since the driver was loaded."),
            (".../hw_counters/rx_drops:0", "Packets received and dropped."),
        ),
        healthy="rx_drops does not grow; bytes grow alike on all adapters.",
        relation="An adapter without traffic means that a channel does not use it.",
        sources=("aws_efa",),
    ),
}
