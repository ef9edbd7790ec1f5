"""The sign-in of operators to the console: password, second factor, and limits on wrong passwords."""
