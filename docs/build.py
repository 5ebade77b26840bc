"""Build the site: ``python docs/build.py [FOLDER]``.

Pages of the documentation are copied, the gallery of figures, the list of public names, the changelog and the advice for
contributors are added, and Sphinx makes a site of them that works offline. Tutorials are executed on the way; warnings are errors.
"""

from __future__ import annotations

import inspect
import re
import shutil
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import pandas as pd

import gpcurves as gpc
from gpcurves.papers import FIGURES, Entry
from gpcurves.render.explorer import explorer_page

DOCS = Path(__file__).resolve().parent
ROOT = DOCS.parent
PAPERS = {
    "Sollich 1999": "sollich1999",
    "Sollich 2001": "sollich2001",
    "Sollich & Halees 2002": "sollich2002",
    "Urry & Sollich 2013": "urry2013",
}


def main() -> None:
    """Write the site."""
    site = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "build" / "docs"
    source = site.parent / f"{site.name}-source"
    for folder in (site, source):
        shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(DOCS, source, ignore=shutil.ignore_patterns("__pycache__", "build.py"))
    shutil.copytree(ROOT / "examples", source / "examples")
    for name in ("CONTRIBUTING.md", "CHANGELOG.md"):
        text = re.sub(r"\(docs/([^)]*)\)", r"(\1)", (ROOT / name).read_text(encoding="utf-8"))
        (source / name.lower()).write_text(
            re.sub(r"\[([^\]]*)\]\((?![\w/.-]*\.md)[^)]*\)", r"\1", text), encoding="utf-8"
        )
    for page in source.rglob("*.md"):
        page.write_text(
            re.sub(
                r"\.\./(CONTRIBUTING|CHANGELOG)\.md", lambda m: f"{m[1].lower()}.md", page.read_text(encoding="utf-8")
            ),
            encoding="utf-8",
        )
    for paper, name in PAPERS.items():
        entries = [entry for entry in FIGURES.values() if entry.paper == paper]
        (source / "gallery" / f"{name}.md").write_text(gallery_page(paper, entries), encoding="utf-8")
    (source / "reference.md").write_text(reference(), encoding="utf-8")
    (source / "_static" / "explorer.html").write_text(explorer_page(), encoding="utf-8")
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-b", "html", str(source), str(site)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{done.stdout}{done.stderr}The documentation has the errors above.")
    print(f"Open {site / 'index.html'} in a browser.")


def gallery_page(paper: str, entries: list[Entry]) -> str:
    """Return the page of a paper: each figure with its caption, what was checked, and the code that made it."""
    claims = pd.read_csv(DOCS / "gallery" / "claims.csv", dtype=str, keep_default_na=False)
    parts = [
        f"# Figures of {paper}\n",
        "Drawn by `gpcurves figures all`; captions and wording of the claims are ours.\n",
    ]
    for entry in entries:
        rows = claims[claims["figure"] == entry.name]
        parts += [
            f"## Figure {entry.number}: {entry.title}\n",
            f"![{entry.title}]({entry.name}.png)\n",
            f"{entry.caption}\n",
            claim_table(rows),
            f"```python\n{entry.code}```\n",
        ]
    return "\n".join(parts)


def claim_table(rows: pd.DataFrame) -> str:
    """Return the claims about a figure as a table."""
    lines = ["| what the text says | expected | found | holds |", "|---|---|---|---|"]
    for row in rows.to_dict("records"):
        text = f"{row['text']} *({row['note']})*" if row["note"] else str(row["text"])
        cells = [text, str(row["expected"]), str(row["found"]), "yes" if row["holds"] == "True" else "**no**"]
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(lines) + "\n"


def reference() -> str:
    """Return the page of public names with the first sentence of each docstring, by the module that they come from."""
    groups: defaultdict[str, list[str]] = defaultdict(list)
    for name in gpc.__all__:
        thing = getattr(gpc, name)
        module = getattr(thing, "__module__", "gpcurves").split(".")
        groups[".".join(module[:2])].append(name)
    parts = ["# Public names\n", "`import gpcurves as gpc` gives these; `help(gpc.NAME)` tells the rest.\n"]
    for module in sorted(groups):
        parts += [f"## {module}\n", "| name | what it is |", "|---|---|"]
        parts += [f"| `{signature(name)}` | {summary(name)} |" for name in sorted(groups[module])]
        parts.append("")
    return "\n".join(parts)


def signature(name: str) -> str:
    """Return how a name is called, with the names of its arguments only."""
    thing = getattr(gpc, name)
    if not callable(thing):
        return name
    try:
        names = [
            p.name if p.kind is not p.VAR_KEYWORD else f"**{p.name}"
            for p in inspect.signature(thing).parameters.values()
        ]
    except ValueError:
        return name
    return f"{name}({', '.join(names)})"


def summary(name: str) -> str:
    """Return the first sentence of a docstring."""
    text = inspect.getdoc(getattr(gpc, name)) or ""
    return text.split("\n\n")[0].replace("\n", " ").replace("|", "\\|")


if __name__ == "__main__":
    main()
