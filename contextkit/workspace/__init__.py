"""Workspaces: folders, git repositories, and facts about them."""
