"""The memory of a rank: states, activations, buffers, allocator."""
