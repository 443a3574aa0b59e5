"""Readers of logs that training software prints."""
