"""The package of billing: prices of posts, the ledger of reserved and spent money, caps, and the payment processor."""
