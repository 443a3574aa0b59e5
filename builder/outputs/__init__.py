"""Outputs besides pages: search, feeds, Markdown, social cards."""
