"""Tests of series."""
