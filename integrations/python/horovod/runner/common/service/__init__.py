"""Services between jobs."""
