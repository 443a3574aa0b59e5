"""A ring of keys and values with one, two or more buffers."""
