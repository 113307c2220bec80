"""Certificates of the webhook."""
