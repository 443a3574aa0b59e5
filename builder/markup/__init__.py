"""The Markdown of ours: citations, terms, links, live numbers and blocks, each an extension."""
