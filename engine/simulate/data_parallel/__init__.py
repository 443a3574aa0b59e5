"""Data parallelism: gradients, buckets, sharding, stragglers."""
