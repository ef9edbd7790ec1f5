"""The package of notices to members of a workspace, such as about approvals, failed posts, budgets and API keys.

Each minute a Celery task reads new events from the tables of the apps (events.py), stores them as notices
(creation.py), and sends the notices of one kind and workspace together as one e-mail (sending.py, emails.py). The same
content goes to the workspace's channels in Slack, Telegram or at a webhook receiver (channels).
"""
