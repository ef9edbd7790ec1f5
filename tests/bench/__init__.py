"""The benchmark: the service's hot paths beside references that do the same work, in one run on one machine."""
