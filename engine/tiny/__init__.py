"""A transformer small enough to print, trained exactly on one rank and on many."""
