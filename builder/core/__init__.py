"""Shared foundations: problems, folders, the build cache, the process pool, Node."""
