"""Analysis of recorded traces: time breakdown of steps, and waiting between ranks."""
