"""Tables of what holds of papers' claims."""

from collections.abc import Mapping

from experiments._claims import Claim, Measured
from experiments._summary import markdown
from experiments._verdicts import Gap, named, over_seeds, overall, signed, word

NOT_MEASURED = "not measured"

HEADER = [
    "",
    "claim",
    "compared",
    "mean",
    "where it fares worst",
    "right side in",
    "why",
]


def of_data(every: Measured, name: str) -> Measured:
    """Return the cells on one set of features, by experiment."""
    return {
        experiment: [cell for cell in cells if cell["cell"]["data"] == name]
        for experiment, cells in every.items()
    }


def tables(measured: Measured, papers: Mapping[str, list[Claim]]) -> list[str]:
    """Return a table of the claims of each paper."""
    return [
        f"**{paper}**\n\n"
        + markdown(HEADER, [row(claim, measured) for claim in claims])
        for paper, claims in papers.items()
    ]


def row(claim: Claim, measured: Measured) -> list[str]:
    """Return what is known of a claim, in the order of `HEADER`."""
    stated = [claim.code, claim.text, claim.compared]
    gaps = claim.gaps(measured)
    if not gaps:
        return [*stated, "", NOT_MEASURED, "", ""]
    found, average = over_seeds(gaps), overall(gaps)
    at = min(found, key=lambda at: found[at][0])
    explained = average or found[at]
    undecided = "one seed" if explained[2] == 1 else "seeds differ by as much"
    reasons = {"holds": claim.why, "not decided": undecided}
    return [
        *stated,
        f"{judged(claim, average)}: {signed(average)}" if average else "",
        f"{judged(claim, found[at])}: {signed(found[at])} at {named(at)}",
        f"{sum(gap[0] >= claim.margin for gap in found.values())} of {len(found)}",
        reasons.get(judged(claim, explained), claim.why_not),
    ]


def judged(claim: Claim, gap: Gap) -> str:
    """Return what a difference says of a claim."""
    return word(gap, claim.margin - gap[0], exact=claim.exact)
