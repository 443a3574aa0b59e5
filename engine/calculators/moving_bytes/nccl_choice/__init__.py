"""What NCCL would choose, and what forcing it costs."""
