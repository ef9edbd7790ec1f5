"""The pages of posts: calendar, composer, approvals, and one post."""
