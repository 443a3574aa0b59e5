"""Path E: whole runs."""
