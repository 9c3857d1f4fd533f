"""Settings of the training of the relaxation of PiCoDes."""

from dataclasses import dataclass

from fewbits.learners._core._nested import Config
from fewbits.learners._core._parameters import check_integer, check_number


@dataclass(kw_only=True, repr=False, eq=False)
class RelaxedTraining(Config):
    """Settings of the training of `RelaxedPiCoDes`.

    Parameters
    ----------
    temperature : float, default=1.0
        T of the sigmoid ``1 / (1 + exp(-2 a'x / T))`` in the first epoch, in units of
        the root mean square that scores have at the start.
    final_temperature : float, default=1.0
        T in the last epoch; it falls by the same factor after each. The paper states
        neither its T nor whether it falls.
    learning_rate : float, default=0.01
        Length of the steps of Adam.
    batch_size : int, default=100
        Rows that a step is computed from.
    """

    temperature: float = 1.0
    final_temperature: float = 1.0
    learning_rate: float = 0.01
    batch_size: int = 100

    def check(self) -> None:
        for name in ("temperature", "final_temperature", "learning_rate"):
            value = getattr(self, name)
            check_number(f"training.{name}", value, 0, above=True)
        check_integer("training.batch_size", self.batch_size, 1)
