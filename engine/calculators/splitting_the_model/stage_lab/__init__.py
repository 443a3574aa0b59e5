"""Layers moved between the stages of a pipeline."""
