"""The Slack adapter: posts messages to channels, by an app installed in a workspace or by an incoming webhook."""
