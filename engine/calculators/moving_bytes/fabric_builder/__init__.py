"""The fabric builder."""
