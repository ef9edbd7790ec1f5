"""Dashboard pages for posts: the calendar, composer, approvals and list pages, and the page of one post."""
