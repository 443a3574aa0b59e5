"""Inputs, estimates and texts of a training run, shared by calculators."""
