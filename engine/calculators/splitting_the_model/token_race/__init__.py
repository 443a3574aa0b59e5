"""A prompt and its tokens on several GPUs, by two ways."""
