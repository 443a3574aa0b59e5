"""What a data type changes."""
