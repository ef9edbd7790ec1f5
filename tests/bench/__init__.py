"""The benchmark: compares the service's most frequent operations with hand-written references."""
