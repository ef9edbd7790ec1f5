"""The Slack adapter: posts to channels, by an app that is installed in their workspace or by an incoming webhook."""
