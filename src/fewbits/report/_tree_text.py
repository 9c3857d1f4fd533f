"""A taxonomy as text: for programs that draw trees, and for people."""

from collections.abc import Iterator

from fewbits.analysis.taxonomy import Taxonomy
from fewbits.report.html import shortened

_ROUNDING = 1e-9


def to_newick(tree: Taxonomy) -> str:
    """Return a taxonomy in the Newick format, which programs for phylogenies read.

    Branches are half as long as the difference of heights, so that the way from one
    class to another is as long as the height where they meet.

    Parameters
    ----------
    tree : Taxonomy

    Returns
    -------
    str
        On one line; names in quotes.

    References
    ----------
    Olsen, "Interpretation of the 'Newick's 8:45' Tree Format Standard", 1990.

    Examples
    --------
    >>> import numpy as np
    >>> from fewbits.analysis.taxonomy import taxonomy
    >>> codes = np.array([[0b000], [0b001], [0b111]], np.uint8) << 5
    >>> print(to_newick(taxonomy(codes, 3, ["cat", "lynx", "trout"])))
    (('cat':0.5,'lynx':0.5):0.75,'trout':1.25);
    """
    parts = [_quoted(name) for name in tree.names]
    heights = [0.0] * len(parts)
    for first, second, height, _ in tree.linkage.tolist():
        branches = []
        for child in (int(first), int(second)):
            length = max(0.0, height - heights[child]) / 2
            branches.append(f"{parts[child]}:{length:.6g}")
            parts[child] = ""  # a chain of merges must not keep all its texts
        parts.append(f"({','.join(branches)})")
        heights.append(height)
    return f"{parts[-1]};"


def to_outline(tree: Taxonomy) -> str:
    """Return a taxonomy as indented lines: a height, and below it what meets there.

    Merges at the height of the one above are shown as one.

    Parameters
    ----------
    tree : Taxonomy

    Returns
    -------
    str

    Examples
    --------
    >>> import numpy as np
    >>> from fewbits.analysis.taxonomy import taxonomy
    >>> codes = np.array([[0b000], [0b001], [0b111]], np.uint8) << 5
    >>> print(to_outline(taxonomy(codes, 3, ["cat", "lynx", "trout"])))
    2.5
      1
        cat
        lynx
      trout
    """
    n = len(tree.names)
    lines = []
    waiting = [(2 * n - 2, 0)]  # not recursive: a tree may be as deep as it is large
    while waiting:
        node, depth = waiting.pop()
        line = shortened(tree.names[node], 300) if node < n else _height(tree, node)
        lines.append("  " * depth + line)
        below = [(child, depth + 1) for child in _meeting(tree, node)]
        waiting += reversed(below)
    return "\n".join(lines)


def _meeting(tree: Taxonomy, node: int) -> Iterator[int]:
    """Yield what meets at the height of `node`."""
    n = len(tree.names)
    if node < n:
        return
    height = tree.linkage[node - n, 2]
    waiting = [int(child) for child in tree.linkage[node - n, 1::-1]]
    while waiting:
        child = waiting.pop()
        if child >= n and tree.linkage[child - n, 2] >= height - _ROUNDING:
            waiting += [int(below) for below in tree.linkage[child - n, 1::-1]]
        else:
            yield child


def _height(tree: Taxonomy, node: int) -> str:
    return f"{tree.linkage[node - len(tree.names), 2]:.4g}"


def _quoted(name: str) -> str:
    words = " ".join(name.split()).replace("'", "''")
    return f"'{words}'"
