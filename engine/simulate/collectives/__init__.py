"""Collectives: executed on data, timed on wires, and as NCCL runs them."""
