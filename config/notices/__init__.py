"""Notices by e-mail: what has come up in a workspace is told to those of its members who want to hear of it.

A task of the beat looks at the rows of the apps below for what is new (news.py), takes it down as notices, and tells the
notices of one kind and workspace together (telling.py, emails.py). Nothing below knows of it.
"""
