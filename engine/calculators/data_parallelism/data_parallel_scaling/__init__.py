"""Data-parallel scaling."""
