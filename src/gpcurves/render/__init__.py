"""Curve in; picture, table or page out."""
