"""Simulators: they execute what the other folders declare and record a trace."""
