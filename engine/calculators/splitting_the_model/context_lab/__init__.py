"""A long sequence over many ranks at real scale."""
