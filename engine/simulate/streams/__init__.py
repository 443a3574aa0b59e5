"""Streams of a GPU: what runs when, and what waits."""
