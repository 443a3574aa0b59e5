"""Formulas, one file per subject: pure functions whose return line is the equation."""
