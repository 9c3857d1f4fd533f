"""The regression of retrieval quality on the ratio of distances."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fewbits.errors import ArgumentError

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class BoundRegression:
    """A straight line through mAP against a ratio, and how well it fits.

    Attributes
    ----------
    n : int
        Points.
    slope, intercept : float
    pearson, spearman : float
    pearson_p, spearman_p : float
        Two-sided p-values against no correlation, from Student's t.
    mean_ratio, spread : float
        Mean of the ratios, and the square root of their summed squared deviations.
    error : float
        Standard deviation of the residuals, with ``n - 2`` degrees of freedom.
    confidence : float
    """

    n: int
    slope: float
    intercept: float
    pearson: float
    pearson_p: float
    spearman: float
    spearman_p: float
    mean_ratio: float
    spread: float
    error: float
    confidence: float

    def line(self, ratios: ArrayLike) -> FloatArray:
        """Return the mAP that the line has at each ratio."""
        return self.intercept + self.slope * np.asarray(ratios, dtype=np.float64)

    def band(self, ratios: ArrayLike) -> tuple[FloatArray, FloatArray]:
        """Return the lower and upper ends of the confidence band of the line.

        At any one ratio, the true line lies in between with probability `confidence`,
        if residuals are normal and equally spread.
        """
        from scipy.stats import t

        x = np.asarray(ratios, dtype=np.float64)
        leverage = 1 / self.n + np.square((x - self.mean_ratio) / self.spread)
        factor = float(t.ppf((1 + self.confidence) / 2, self.n - 2))
        half = factor * self.error * np.sqrt(leverage)
        return self.line(x) - half, self.line(x) + half


def bound_regression(
    ratios: ArrayLike, maps: ArrayLike, *, confidence: float = 0.95
) -> BoundRegression:
    """Fit mAP by a straight line in ``min D_inter / max D_intra``.

    Parameters
    ----------
    ratios : array-like of shape (n,)
        Of methods or epochs, `CodeBound.ratio` or `CodeBound.strict_ratio`; at least 3.
    maps : array-like of shape (n,)
        Their mAP.
    confidence : float, default=0.95
        Of the band.

    Returns
    -------
    BoundRegression

    Raises
    ------
    ArgumentError
        When lengths differ, there are fewer than 3 points, a value is not finite, or
        all ratios or all mAPs are equal.

    Notes
    -----
    The p-values take points as independent. Epochs of one training are not, so theirs
    are too small.

    References
    ----------
    Draper and Smith, "Applied Regression Analysis", 3rd edition, Wiley 1998, chapter 1;
    drawn as in figure 4 of Zhu et al., "A Lower Bound of Hash Codes' Performance",
    NeurIPS 2022.

    Examples
    --------
    >>> fit = bound_regression([0.5, 1.0, 1.5, 2.0], [0.2, 0.5, 0.6, 0.9])
    >>> round(fit.slope, 2), round(fit.pearson, 3), fit.spearman
    (0.44, 0.984, 1.0)
    >>> low, high = fit.band([1.0])
    >>> (low < fit.line([1.0])) & (fit.line([1.0]) < high)
    array([ True])
    """
    from scipy.stats import pearsonr, spearmanr

    x, y = _points(ratios, maps)
    if not 0 < confidence < 1:
        raise ArgumentError(f"confidence must lie between 0 and 1, got {confidence}")
    across = x - x.mean()
    slope = float(across @ y / (across @ across))
    intercept = float(y.mean() - slope * x.mean())
    residuals = y - intercept - slope * x
    pearson, spearman = pearsonr(x, y), spearmanr(x, y)
    return BoundRegression(
        n=len(x),
        slope=slope,
        intercept=intercept,
        pearson=float(pearson.statistic),
        pearson_p=float(pearson.pvalue),
        spearman=float(spearman.statistic),
        spearman_p=float(spearman.pvalue),
        mean_ratio=float(x.mean()),
        spread=float(np.sqrt(across @ across)),
        error=float(np.sqrt(residuals @ residuals / (len(x) - 2))),
        confidence=float(confidence),
    )


def _points(ratios: ArrayLike, maps: ArrayLike) -> tuple[FloatArray, FloatArray]:
    try:
        x, y = (np.asarray(z, dtype=np.float64) for z in (ratios, maps))
    except (TypeError, ValueError):
        raise ArgumentError("ratios and mAPs must be numbers") from None
    if x.ndim != 1 or x.shape != y.shape:
        raise ArgumentError(
            f"need one mAP for each ratio, got shapes {x.shape} and {y.shape}"
        )
    if len(x) < 3:
        raise ArgumentError(f"a line with an error needs 3 points, got {len(x)}")
    if not (np.isfinite(x).all() and np.isfinite(y).all()):
        raise ArgumentError("ratios and mAPs must be finite, got NaN or infinity")
    for name, values in (("ratios", x), ("mAPs", y)):
        if values.min() == values.max():
            raise ArgumentError(f"all {name} are equal: there is nothing to correlate")
    return x, y
