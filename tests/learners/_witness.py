"""A learner that says what it was fitted with; other processes import it from here."""

import os

from threadpoolctl import threadpool_info

from fewbits._kernels import num_threads
from fewbits._runtime import current_runtime
from fewbits.learners import LSH
from fewbits.learners._core._device import current_backend


class Witness(LSH):
    """LSH that keeps in `seen_` what was there while it learnt."""

    def _learn(self, X, y):
        runtime = current_runtime()
        self.seen_ = {
            "device": current_backend().name,
            "threads": num_threads(),
            "blas": max(
                each["num_threads"]
                for each in threadpool_info()
                if each["user_api"] == "blas"
            ),
            "listens": runtime.progress is not None,
            "shares": runtime.shared_steps is not None,
            "keeps": runtime.done_checkpoints is not None,
            "process": os.getpid(),
        }
        return super()._learn(X, y)


def seen(learner, X, y=None):
    """Return what a fitted learner has seen, as a score of several numbers."""
    return {**learner.seen_, "device": float(learner.seen_["device"] == "cpu")}


def fitted(learner, X):
    """Fit; for another process."""
    return learner.fit(X).seen_
