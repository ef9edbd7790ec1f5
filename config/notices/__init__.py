"""E-mail notices to members of a workspace, such as about approvals, failed posts, budgets and API keys.

Each minute a Celery task reads new occurrences from the tables of the apps (occurrences.py), stores them as notices, and
sends the notices of one kind and workspace together as one e-mail (sending.py, emails.py).
"""
