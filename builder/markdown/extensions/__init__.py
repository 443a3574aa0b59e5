"""Extensions of Python-Markdown: placements, citations, glossary, links, blocks."""
