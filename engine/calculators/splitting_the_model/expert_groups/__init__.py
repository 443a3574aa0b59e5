"""Does expert parallelism multiply my GPUs?"""
