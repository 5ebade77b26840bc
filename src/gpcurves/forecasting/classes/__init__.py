"""Forecasts of classes: how often a Gaussian process classifier is wrong with more rows of a table."""
