"""The HTTP port: metrics, health, the page."""
