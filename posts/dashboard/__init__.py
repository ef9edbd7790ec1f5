"""Dashboard pages for posts: calendar, composer, approvals, list, and the page of one post."""
