"""The settings of FSDP2."""
