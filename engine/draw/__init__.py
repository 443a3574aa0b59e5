"""Static SVG of the views, drawn the same at build time and in the browser's Worker."""
