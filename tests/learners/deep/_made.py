"""Learners from settings that are named without their group."""

_GROUPS = ("", "training__", "network__", "codebook_training__")
_PHASE_1 = {
    "codebook_epochs": "codebook_training__max_epochs",
    "codebook_rate": "codebook_training__learning_rate",
}


def made(kind, *n_bits, **settings):
    """Return a learner; `settings` may be those of its network and its training."""
    learner = kind(*n_bits)
    known = learner.get_params()

    def whole(name):
        name = _PHASE_1.get(name, name)
        return next(group + name for group in _GROUPS if group + name in known)

    return learner.set_params(**{whole(name): v for name, v in settings.items()})
