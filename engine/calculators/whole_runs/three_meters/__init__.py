"""Three meters on one GPU while it waits in a collective."""
