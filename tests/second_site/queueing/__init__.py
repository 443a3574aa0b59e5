"""Lines at counters: formulas, a simulator and calculators."""
