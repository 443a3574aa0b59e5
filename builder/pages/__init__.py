"""Pages: an article in its template, checked, with its assets."""
