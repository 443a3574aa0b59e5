"""Tiles of a product on the multiprocessors."""
