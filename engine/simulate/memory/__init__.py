"""Memory of a rank: states, activations, buffers, allocator."""
