"""The kinds of view, by what they show; a calculator takes them from `engine.core.views`."""
