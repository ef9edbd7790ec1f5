"""Files of posts: CSV, JSON or YAML files with a row for each post, which the dashboard imports, compares and exports."""
