"""The kinds of input, one to a file; a calculator takes them from `engine.core.inputs`."""
