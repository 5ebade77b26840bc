"""How good are forecasts: tasks, their true learning curves, and the score."""
