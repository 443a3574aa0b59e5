"""Muon lab: the optimizer step of a configured job."""
