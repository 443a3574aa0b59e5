"""Time of one layer on one rank: matrix products, attention, experts, exchanges."""
