"""Calculators, one file each: inputs, a pure compute function, named views."""
