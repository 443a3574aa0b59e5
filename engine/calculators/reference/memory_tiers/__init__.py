"""Memory tiers."""
