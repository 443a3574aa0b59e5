"""A training run: parallelism, software, the run file, its limits and problems."""
