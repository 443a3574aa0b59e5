"""What calculators share of the sync."""
