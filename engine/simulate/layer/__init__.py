"""One layer on one rank: products, attention, experts, exchanges."""
