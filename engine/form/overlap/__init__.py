"""What calculators share of the overlap."""
