"""Mutants: small faults seeded at random, and the share of them that a room's own tests notice."""
