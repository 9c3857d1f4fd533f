"""Tables in Markdown."""

from collections.abc import Iterable, Mapping, Sequence
from math import isinf, isnan
from typing import Any

from research.core.claims import NOT_AS_STATED, Finding
from research.core.compare import VERDICTS, Effect, over_seeds
from research.core.record import Record


def markdown(header: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """Return a table in Markdown."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines)


def grid(
    records: Iterable[Record],
    metric: str,
    rows: str = "method",
    columns: str = "bits",
    errors: bool = True,
) -> str:
    """Return the means of a metric, by two of the settings, with standard errors.

    The records are those of one value of every other setting.
    """
    show = shown if errors else lambda mean: decimal(mean.mean)
    found: dict[Any, dict[Any, Effect]] = {}
    for at, mean in over_seeds(records, metric).items():
        settings = dict(at)
        found.setdefault(settings.get(rows), {})[settings.get(columns)] = mean
    across = sorted({at for row in found.values() for at in row}, key=_order)
    body = [
        [name, *(show(row[at]) if at in row else "" for at in across)]
        for name, row in found.items()
    ]
    return markdown([f"{rows} / {columns}", *map(str, across)], body)


def _order(value: Any) -> tuple[bool, Any]:
    return (False, value) if isinstance(value, int | float) else (True, str(value))


def shown(mean: Effect, digits: int = 3) -> str:
    """Return ``.712 ± .004``, or the mean alone where there is no error."""
    text = decimal(mean.mean, digits)
    return text if isnan(mean.error) else f"{text} ± {decimal(mean.error, digits)}"


def decimal(value: float, digits: int = 3, sign: bool = False) -> str:
    """Return ``.712`` or ``20.9``: below one without the zero."""
    text = f"{abs(value):.{digits}f}"
    text = text[1:] if text.startswith("0.") else text
    return ("-" if value < 0 else "+" * sign) + text


def interval(found: Effect, digits: int = 3, sign: bool = True) -> str:
    """Return ``+.010 [-.002, +.022]``: an effect and its 95 % interval."""
    mean = decimal(found.mean, digits, sign)
    if found.exact:
        return mean
    if isinf(found.interval[0]):
        return f"{mean}, one seed"
    return f"{mean} [{', '.join(decimal(n, digits, sign) for n in found.interval)}]"


def effect_of(finding: Finding) -> str:
    """Return the effect of a finding and its interval; ratios as ``2.30x``."""
    if finding.claim.test == "ratio":
        mean, *bounds = interval(finding.effect, 2, sign=False).split(" ", 1)
        return " ".join([f"{mean}x", *bounds])
    return interval(finding.effect)


def _method_beside(finding: Finding) -> str:
    """Return the method of the right side, where the claim names none."""
    claim = finding.claim
    method = dict(finding.beside).get("method", "")
    named = "method" in claim.right or not claim.right
    same = claim.each == "method" and dict(finding.setting).get("method") == method
    return "" if named or same else str(method)


def at(finding: Finding, titles: Mapping[str, str]) -> str:
    """Return where a finding was made: ``ICD-10, 64 bits``."""
    settings = dict(finding.setting)
    name = settings.get("data")
    parts = [titles.get(name, name)] if name else []
    if settings.get("bits"):
        parts.append(f"{settings['bits']:,} bits")
    parts += [
        form.format(settings[name]) for name, form in _SHOWN.items() if name in settings
    ]
    if finding.claim.each != "data":
        parts.append(str(settings.get(finding.claim.each)))
    right = _method_beside(finding)
    if right:
        parts.append(f"beside {right}")
    if "settings" in settings:
        parts.append(f"mean of {settings['settings']}")
    return ", ".join(map(str, parts))


#: Other settings that a claim is judged at.
_SHOWN = {"each": "{} a class", "examples": "{} examples"}
CLAIM_HEADER = ("claim", "effect where it is weakest", *VERDICTS, NOT_AS_STATED)


def claim_row(
    found: Sequence[Finding], titles: Mapping[str, str], marks: Mapping[str, str]
) -> list[str]:
    """Return a claim's line of a page: effect first, then the sets by their verdict.

    The effect is that of the set least favourable to the claim, of those that are
    tested as stated if there are any. `marks` are those of reasons, if there are
    several.
    """
    stated = [each for each in found if not each.differs] or list(found)
    worst = max(stated, key=lambda each: each.against)
    claim = worst.claim
    effect = f"{effect_of(worst)} ({at(worst, titles)})"
    verdicts = [each.verdict for each in found]
    counts = [str(verdicts.count(name) or "") for name in CLAIM_HEADER[2:]]
    counts[-1] += "".join(sorted({marks.get(each.differs, "") for each in found}))
    return [f"{claim.says} ({claim.where})", effect, *counts]


def reasons(judged: Iterable[Sequence[Finding]]) -> list[str]:
    """Return in which ways claims were tested otherwise than the paper states them."""
    return list(
        dict.fromkeys(f.differs for found in judged for f in found if f.differs)
    )
