"""Inputs, texts and charts shared by several calculators."""
