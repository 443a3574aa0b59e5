"""How wide to shard: memory against bytes between nodes."""
