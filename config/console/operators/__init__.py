"""How operators sign in to the console: passwords, limits on wrong ones, the second factor."""
