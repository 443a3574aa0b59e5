"""Muon's step on the reader's job."""
