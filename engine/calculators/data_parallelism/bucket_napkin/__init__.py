"""The napkin of 14 buckets."""
