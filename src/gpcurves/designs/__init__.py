"""How training inputs are chosen."""
