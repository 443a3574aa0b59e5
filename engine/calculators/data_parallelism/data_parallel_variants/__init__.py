"""Data-parallel variants."""
