"""Trace hunt."""
