"""Learners from settings that are named without their group."""

from typing import Any

_PHASE_1 = {
    "codebook_epochs": "codebook_training__max_epochs",
    "codebook_rate": "codebook_training__learning_rate",
}


def configured(kind: Any, /, *n_bits: int, **settings: Any) -> Any:
    """Return an untrained learner: ``configured(LLC, 16, max_epochs=9)``."""
    return with_settings(kind(*n_bits), **settings)


def with_settings(learner: Any, /, **settings: Any) -> Any:
    """Set what is given, in whichever group it is, and return the learner."""
    known = learner.get_params()
    prefixes = ("", *(f"{group}__" for group in ("training", *learner.configs)))

    def whole(name: str) -> str:
        name = _PHASE_1.get(name, name)
        return next(prefix + name for prefix in prefixes if prefix + name in known)

    return learner.set_params(**{whole(name): v for name, v in settings.items()})
