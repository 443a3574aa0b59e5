"""ZeRO saving."""
