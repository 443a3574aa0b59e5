"""ZeRO-1, step by step."""
