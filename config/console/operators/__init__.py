"""Sign-in of operators: password, rate limits on wrong passwords, and the second factor."""
