"""Inputs and views shared by the ZeRO-2 and ZeRO-3 calculators."""
