"""What calculators share: fields, the form of a run, advice."""
