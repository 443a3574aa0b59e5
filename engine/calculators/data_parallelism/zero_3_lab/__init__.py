"""ZeRO-3 at real scale."""
