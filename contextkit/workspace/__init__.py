"""Folders, git repositories, and what is known of them."""
