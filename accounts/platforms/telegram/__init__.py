"""Package for Telegram: posts to channels, groups and private chats by the owner's bot, through the Bot API."""
