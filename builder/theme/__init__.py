"""The theme: templates, styles and scripts, checked and minified."""
