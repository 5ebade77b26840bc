"""Numbers and lists of names in sentences."""

from collections.abc import Sequence


def count(number: int, what: str) -> str:
    """Write a number of things: "1 row", "2 rows"."""
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def enumerate_names(names: Sequence[str], *, quote: bool = True, most: int = 12) -> str:
    """Write names one after the other, and how many more there are if they are many."""
    shown = [repr(name) if quote else name for name in names[:most]]
    rest = f" and {len(names) - most:,} more" if len(names) > most else ""
    return ", ".join(shown) + rest
