"""Requests and replies, one module per service."""
