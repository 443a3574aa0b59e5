"""ZeRO-1 and ZeRO-2 at real scale."""
