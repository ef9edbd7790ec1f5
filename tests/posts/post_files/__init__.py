"""Tests of files of posts: import, comparison and export."""
