"""From one GPU that overflows to the depth split."""
