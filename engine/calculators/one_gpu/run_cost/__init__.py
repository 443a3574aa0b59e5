"""What a training run costs."""
