"""Planner: the best plans of a job."""
