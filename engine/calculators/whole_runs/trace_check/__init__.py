"""A recorded trace: where the time of its steps went, and what was predicted."""
