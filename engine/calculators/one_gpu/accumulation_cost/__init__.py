"""Cost of gradient accumulation: memory, traffic and speed."""
