"""Streams of a GPU: start and end of every operation, overlap and waiting."""
