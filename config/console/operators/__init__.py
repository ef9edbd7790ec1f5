"""The sign-in of operators to the console: the password, limits on wrong passwords, and the second factor."""
