"""Documents packed into sequences that ranks share."""
