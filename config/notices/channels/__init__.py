"""The package of notices to Slack, Telegram and webhooks, beside e-mail: a workspace's channels and their messages.

A digest queues one message for each channel that wants it (queue.py), in the form of the channel's service
(message_bodies.py). A worker sends it (worker_loop.py) and judges the answer (answers.py).
"""
