"""Ports for models and their drivers, found by entry point, so that another package can add one."""
