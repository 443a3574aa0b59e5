"""Layers of several kinds in one model, by the length of a sequence."""
