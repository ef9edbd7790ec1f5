"""Slack channels, by an app that is installed in their workspace or by an incoming webhook."""
