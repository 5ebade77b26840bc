"""One self-contained page: opens offline, needs nothing from outside."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Sequence

_STYLE = """
:root { --ink: #1d2733; --quiet: #5d6875; --line: #dfe5ea; --blue: #0072B2; --orange: #D55E00; --purple: #7a4f9a; }
body { font-family: system-ui, sans-serif; color: var(--ink); line-height: 1.5; max-width: 960px; margin: 1.5em auto;
padding: 0 1em; overflow-wrap: break-word; }
h1 { font-size: 1.6em; line-height: 1.2; margin: 0.1em 0 0.4em; } h2 { font-size: 1.2em; margin-top: 2em; break-after: avoid; }
p.problem, header p { color: var(--quiet); margin: 0 0 0.6em; }
.verdict { border-left: 6px solid var(--blue); background: #f3f7fa; border-radius: 4px; padding: 0.9em 1.2em; margin: 1em 0; }
.verdict p { margin: 0.3em 0; } .wide { overflow-x: auto; } li { margin: 0.3em 0; }
table { border-collapse: collapse; font-size: 0.9em; width: 100%; } th { font-weight: 600; color: var(--quiet); }
td, th { padding: 0.3em 0.8em; text-align: left; border-bottom: 1px solid var(--line); vertical-align: top; }
td { font-variant-numeric: tabular-nums; } .number { white-space: nowrap; }
@media (max-width: 520px) { body { margin: 0.8em auto; } td, th { padding: 0.3em 0.35em; } .roomy { display: none; } }
"""


class Html(str):
    """Text that is HTML already. All other text that goes into a page is escaped: it may come from a file."""

    __slots__ = ()


def as_html(text: str) -> Html:
    """Return text as HTML, with numbers that stay on one line: browsers break them after the minus of 1e-05."""
    if isinstance(text, Html):
        return text
    return Html(re.sub(r"(?<![\d.])\d[\d.]*+e-\d+", r"<span class='number'>\g<0></span>", html.escape(text)))


def tagged(tag: str, text: str) -> Html:
    """Return text between tags."""
    return Html(f"<{tag}>{as_html(text)}</{tag}>")


def document(title: str, parts: Sequence[str], style: str = "") -> str:
    """Return a page that needs nothing from outside."""
    head = [
        "<!doctype html><html lang='en'><head><meta charset='utf-8'>",
        "<meta name='viewport' content='width=device-width, initial-scale=1'>",
        f"<title>{html.escape(title)}</title><style>{_STYLE}{style}</style></head><body><main>",
    ]
    return "\n".join([*head, *parts, "</main></body></html>\n"])


def sentences(texts: Iterable[str], tone: str = "") -> str:
    """Return sentences in a box that says what to do."""
    inside = "".join(tagged("p", text) for text in texts)
    return f"<section class='verdict {tone}'>{inside}</section>" if inside else ""


def table(title: str, head: Sequence[str], rows: Iterable[Sequence[str]], roomy: Sequence[str] = ()) -> str:
    """Return a table under a heading; columns whose heads are ``roomy`` are left out on a telephone."""
    kinds = [" class='roomy'" if each in roomy else "" for each in head]
    lines = [
        "<tr>"
        + "".join(f"<{tag}{kind}>{as_html(cell)}</{tag}>" for kind, cell in zip(kinds, row, strict=True))
        + "</tr>"
        for tag, row in [("th", head), *(("td", row) for row in rows)]
    ]
    return f"{tagged('h2', title)}<div class='wide'><table>{''.join(lines)}</table></div>"


def listed(title: str, items: Iterable[str]) -> str:
    """Return a list of sentences under a heading, or nothing without any."""
    entries = "".join(tagged("li", item) for item in items)
    return f"{tagged('h2', title)}<ul>{entries}</ul>" if entries else ""


def aligned(values: Iterable[float]) -> list[str]:
    """Write numbers with the same decimals, three digits for the largest, so that they can be compared at a glance."""
    numbers = list(values)
    largest = max(map(abs, numbers))
    if not 1e-3 <= largest < 1e6 or min(map(abs, numbers)) < largest / 100:
        return [f"{number:.3g}" for number in numbers]
    decimals = max(0, 2 - int(f"{largest:.2e}".partition("e")[2]))
    return [f"{number:,.{decimals}f}" for number in numbers]
