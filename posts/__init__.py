"""Posts: content, validation, plans, scheduling, approval, publishing, and series."""
