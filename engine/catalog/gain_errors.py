"""Errors of predicted gains against published ones; by tests.validation.gains."""

# Pairs of runs that differ in one setting; median and 80th percentile of the error of
# the ratio of their speeds.
PAIRS = 435
GAIN_MEDIAN = 0.036
GAIN_ERROR = 0.077
