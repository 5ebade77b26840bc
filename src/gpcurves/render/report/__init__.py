"""The report of a forecast: one page that says how many rows a goal needs, lets the goal be moved, and opens offline."""
