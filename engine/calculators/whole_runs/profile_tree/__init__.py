"""The tree from MFU to link counters."""
