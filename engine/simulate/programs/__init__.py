"""Training step programs: operations on the streams of a rank, one schedule per module."""
