"""What the output folder holds beside pages: search, feeds, Markdown, cards."""
