"""Planner inputs, answers and texts, for calculators and the command line."""
