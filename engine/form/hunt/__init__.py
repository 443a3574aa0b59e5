"""What calculators share of the hunt."""
