"""The calculators of the site, loaded and checked for templates."""
