"""What training software prints while it runs, read as numbers."""
