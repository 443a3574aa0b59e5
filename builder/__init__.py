"""content + engine + theme -> pages."""
