"""Jobs imported from configurations: texts, exports, links to calculators."""
