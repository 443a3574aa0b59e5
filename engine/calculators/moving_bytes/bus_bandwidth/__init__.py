"""Algorithm bandwidth and bus bandwidth."""
