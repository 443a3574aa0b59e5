"""What calculators share of the message."""
