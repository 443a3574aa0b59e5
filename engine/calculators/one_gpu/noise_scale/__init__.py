"""The gradient noise scale and the size of the batch."""
