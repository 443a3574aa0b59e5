"""Lines, customer by customer."""
