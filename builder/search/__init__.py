"""What a reader can search for, and the index that answers in their browser."""
