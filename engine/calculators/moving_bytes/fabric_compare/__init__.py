"""Two networks on one job."""
