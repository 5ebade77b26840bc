"""Prediction on real networks: tasks, what people use instead, and scores."""
