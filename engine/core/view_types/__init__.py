"""View types by kind; calculators import them from `engine.core.views`."""
