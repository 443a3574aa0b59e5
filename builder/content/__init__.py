"""The content folder: articles, bibliography, glossary, and the order of guides."""
