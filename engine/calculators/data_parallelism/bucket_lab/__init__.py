"""DDP bucket lab."""
