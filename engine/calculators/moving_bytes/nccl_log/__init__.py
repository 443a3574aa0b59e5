"""A table of nccl-tests or a log of NCCL against the machines it ran on."""
