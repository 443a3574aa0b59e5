"""Charts, drawings and social cards as files."""
