"""Settings of the training on neighbours."""

from dataclasses import dataclass

from fewbits.learners._core._nested import Config
from fewbits.learners._core._parameters import check_integer, check_number

_MOST_RATE = 100.0  # a step of one entry, of rows whose mean square is 1


@dataclass(kw_only=True, repr=False, eq=False)
class NeighbourTraining(Config):
    """Settings of the training of `NeighbourCodes`.

    Parameters
    ----------
    perplexity : float, default=10.0
        Effective number of neighbours to preserve. More, such as 150 of 500
        `n_neighbours`, preserve wider neighbourhoods, and classes with them, at the
        cost of some recall@10.
    n_neighbours : int, default=300
        Nearest rows of an anchor that batches are drawn from.
    n_anchors : int, default=12_000
        Rows whose neighbours are searched for, which takes ``n_anchors * n_rows``
        products of vectors.
    n_rows : int, default=200_000
        Rows that take part, drawn if there are more; they are held in memory, and
        on the device where they are learnt from, in float32: 20 GiB of the default
        number with 25,600 features.
    learning_rate : float, default=0.04
        Of Adam, for rows scaled to a mean square of 1, up to 100; it falls to 0.
    validation : float, default=0.1
        Share of the rows, 20,000 at most, that is held out and searched among itself,
        as rows that come later are: where the start finds more of their nearest
        neighbours, by over a standard error, training is undone. Of fewer than 1,000
        rows 100 are held out, a quarter at most. Where fewer than 500 are, training is
        kept only if the two nearest are found more often, by over a standard error, and
        by scores no less often. Of fewer than 100 rows none are: that would be too few
        to tell, and the start is the result. 0 holds none out and keeps what was
        trained. Sparse maps have no start to go back to.
    """

    perplexity: float = 10.0
    n_neighbours: int = 300
    n_anchors: int = 12_000
    n_rows: int = 200_000
    learning_rate: float = 0.04
    validation: float = 0.1

    def check(self) -> None:
        check_number("training.perplexity", self.perplexity, 1, above=True)
        check_integer("training.n_neighbours", self.n_neighbours, 1)
        check_integer("training.n_anchors", self.n_anchors, 1)
        check_integer("training.n_rows", self.n_rows, 2)
        check_number(
            "training.learning_rate", self.learning_rate, 0, _MOST_RATE, above=True
        )
        check_number("training.validation", self.validation, 0, 0.5)


@dataclass(kw_only=True, repr=False, eq=False)
class FastNeighbourTraining(NeighbourTraining):
    """Settings of the training of `FastNeighbourCodes`; others as `NeighbourTraining`.

    Parameters
    ----------
    perplexity : float, default=20.0
        Effective number of neighbours to preserve, of the `n_neighbours`.
    learning_rate : float, default=0.02
        Of Adam, for blocks that start as rotations, up to 100; it falls to 0.
    validation : float, default=0.1
        As of `NeighbourTraining`, but of fewer than 1,000 rows the start is the result:
        too few could be held out to tell what is lost.
    """

    perplexity: float = 20.0
    learning_rate: float = 0.02
    validation: float = 0.1
