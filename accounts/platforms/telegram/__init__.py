"""The Telegram adapter: posts to channels, groups and private chats, through a bot of the owner's (Bot API)."""
