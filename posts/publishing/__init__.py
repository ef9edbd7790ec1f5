"""The publisher: claims due post targets and publishes them step by step through their platform adapters."""
