"""What calculators share of the run."""
