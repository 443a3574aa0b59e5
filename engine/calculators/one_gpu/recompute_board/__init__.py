"""The board of saved tensors."""
