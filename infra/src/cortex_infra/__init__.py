"""Embedded servers, supervision, migrations and stream provisioning."""
