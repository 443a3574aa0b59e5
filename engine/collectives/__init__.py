"""Collectives, one file each: the rounds of chunk transfers that carry them out."""
