"""Facts with sources: accelerators, nodes, hosts, links, transports, models, constants."""
