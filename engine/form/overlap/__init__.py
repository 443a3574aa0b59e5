"""Inputs and charts shared by the overlap calculators."""
