"""A linter for DeepSpeed configurations."""
