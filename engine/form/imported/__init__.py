"""What a reader's own configuration says: read, told, exported, carried to other pages."""
