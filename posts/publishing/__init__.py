"""The package of the publisher: the modules that claim due post targets and publish them through platform adapters."""
