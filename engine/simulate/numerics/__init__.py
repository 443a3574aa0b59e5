"""Number formats, seeded random numbers, fits."""
