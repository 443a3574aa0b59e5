"""Path C: data parallelism and sharding."""
