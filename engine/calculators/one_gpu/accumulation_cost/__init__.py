"""What accumulation costs and keeps."""
