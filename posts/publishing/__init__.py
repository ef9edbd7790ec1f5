"""The publisher, which reserves due post targets for a worker and publishes them through their platform adapters."""
