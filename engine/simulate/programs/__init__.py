"""Programs: the operations of one training step on the streams of a rank, one schedule per file."""
