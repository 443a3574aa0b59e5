"""A router in training: balanced by a loss, by biases, or not at all."""
