"""Inputs shared by calculators of message latency."""
