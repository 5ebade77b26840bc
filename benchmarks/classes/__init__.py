"""How well forecasts of error rates and log losses hold: tasks with classes as users have them, their truth, rivals and scores."""
