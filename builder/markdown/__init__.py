"""Markdown and formulas to the HTML of an article."""
