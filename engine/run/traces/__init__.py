"""Traces of PyTorch's profiler: what ran on a GPU, read from Kineto's JSON."""
