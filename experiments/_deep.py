"""Deep learners from settings that are named without their group."""

from typing import Any

_GROUPS = ("", "training__", "network__", "codebook_training__")
_PHASE_1 = {
    "codebook_epochs": "codebook_training__max_epochs",
    "codebook_rate": "codebook_training__learning_rate",
}


def deep(kind: Any, *n_bits: int, **settings: Any) -> Any:
    """Return an untrained learner, as ``deep(LLC, 16, max_epochs=9, bias=False)``."""
    return with_settings(kind(*n_bits), **settings)


def with_settings(learner: Any, **settings: Any) -> Any:
    """Set what is given, in whichever group it is, and return the learner."""
    known = learner.get_params()

    def whole(name: str) -> str:
        name = _PHASE_1.get(name, name)
        return next(group + name for group in _GROUPS if group + name in known)

    return learner.set_params(**{whole(name): v for name, v in settings.items()})
