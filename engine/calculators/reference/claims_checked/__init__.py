"""Claims we checked."""
