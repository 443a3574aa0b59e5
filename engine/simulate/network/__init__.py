"""Links of a cluster, flows that share them, messages and packets."""
