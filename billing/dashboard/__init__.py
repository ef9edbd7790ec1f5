"""The package of billing's dashboard pages: the usage page, and the charts on it."""
