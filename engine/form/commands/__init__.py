"""What calculators share of the commands."""
