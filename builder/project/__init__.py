"""Settings, theme, Python packages and environment of a project."""
