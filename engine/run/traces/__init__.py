"""Readers of PyTorch profiler traces (Kineto JSON): the events of a GPU."""
