"""Paragraphs and items of Markdown, in lines that are not too long to read."""

import re
import textwrap

WIDTH = 100


def wrapped(markdown: str) -> str:
    """Break long lines between words, but not those of tables, headings and code."""
    lines: list[str] = []
    is_code = False
    for line in markdown.split("\n"):
        is_code ^= line.startswith("```")
        if is_code or len(line) <= WIDTH or line.startswith(("|", "#", "<", "!")):
            lines.append(line)
            continue
        # What would begin an item or a heading stays behind the word before it.
        text = re.sub(r" (?=([-+*#>]+|\d+[.)]) )", "\0", line)
        indent = "  " if line.startswith("- ") else ""
        parts = textwrap.wrap(
            text,
            WIDTH,
            subsequent_indent=indent,
            break_long_words=False,
            break_on_hyphens=False,
        )
        lines += [part.replace("\0", " ") for part in parts]
    return "\n".join(lines)
