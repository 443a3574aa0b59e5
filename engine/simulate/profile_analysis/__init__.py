"""What a recorded trace says: where the time of its steps went, and who waited for whom."""
