"""Adapters that publish posts to the social platforms.

They take and return plain values and use no Django models.
"""
