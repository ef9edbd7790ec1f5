"""The package of the operators' sign-in to the console: password, second factor, and limits on wrong passwords."""
