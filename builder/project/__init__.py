"""One site: its settings, its theme, its Python packages, its environment."""
