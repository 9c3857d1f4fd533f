"""The part of the page that shows the report: metrics, warnings, histograms."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from fewbits.analysis.bits import BitReport
from fewbits.report._charts import histogram
from fewbits.report.html import Html, element, text

_BINS = 20


def report_section(report: BitReport, notes: Sequence[str] = ()) -> Html:
    """Return the whole report, with `notes` below its warnings."""
    return element(
        "section",
        element("h2", "The code"),
        _warnings([*report.warnings, *map(text, notes)]),
        element("div", element("dl", *_metrics(report)), class_="card"),
        element(
            "div",
            element("div", _distance_chart(report), class_="card"),
            element("div", _balance_chart(report), class_="card"),
            class_="charts",
        ),
    )


def _warnings(sentences: Sequence[str]) -> Html:
    if not sentences:
        return Html("")
    return element(
        "div",
        element("h3", "Worth knowing"),
        element("ul", *(element("li", sentence) for sentence in sentences)),
        class_="card warnings",
    )


def _metrics(report: BitReport) -> list[Html]:
    metrics = {
        "items": f"{report.n_codes:,}",
        "bits": f"{report.n_bits:,}",
        "effective bits": f"{report.effective_bits:.1f}",
        "mean entropy of a bit": f"{report.entropy.mean():.3f}",
        "different codes": f"{report.n_distinct:,}",
        "mean |correlation|": _decimal(report.mean_correlation),
        "largest |correlation|": _decimal(report.largest_correlation),
    }
    if report.separation is not None:
        metrics["separation of classes"] = _decimal(report.separation)
    return [
        element("div", element("dt", name), element("dd", value))
        for name, value in metrics.items()
    ]


def _distance_chart(report: BitReport) -> Html:
    series = {"all pairs": report.distances}
    if report.within is not None and report.between is not None:
        series = {"within classes": report.within, "between": report.between}
    known = {name: found for name, found in series.items() if found.n_pairs}
    if not known:
        return element("p", "There is no pair of items to compare.", class_="soft")
    means = ", ".join(f"{name} {found.mean:.1f}" for name, found in known.items())
    middle = report.n_bits // 2
    return histogram(
        "Hamming distance",
        {name: found.shares for name, found in known.items()},
        {0.5: "0", middle + 0.5: str(middle), report.n_bits + 0.5: f"{report.n_bits}"},
        f"mean distance {means}",
    )


def _balance_chart(report: BitReport) -> Html:
    counts: NDArray[np.int64] = np.histogram(report.balance, _BINS, (0, 1))[0]
    return histogram(
        "Bits by their share of ones",
        {"bits": counts / report.n_bits},
        {0: "0%", _BINS / 2: "50%", _BINS: "100%"},
        f"from {report.balance.min():.0%} to {report.balance.max():.0%}",
    )


def _decimal(value: float) -> str:
    return "–" if np.isnan(value) else f"{value:.2f}"
