"""What Meta's products share: calls of the Graph API, what its errors mean, and how it issues tokens."""
