"""The communication of tensor parallelism against computation, over ranks and links."""
