"""What each platform's machine-readable document says of the operations that the adapters call, and its checker."""
