"""Elastic jobs: what a worker has of them. Their driver is not here yet."""
