"""Trace check: breakdown of a recorded trace's steps, against the prediction."""
