"""Measurement commands of the command builder."""
