"""Learners from settings that are named without their group."""

_PHASE_1 = {
    "codebook_epochs": "codebook_training__max_epochs",
    "codebook_rate": "codebook_training__learning_rate",
}


def made(kind, /, *n_bits, **settings):
    """Return a learner; `settings` may be those of its network and its training."""
    learner = kind(*n_bits)
    known = learner.get_params()
    prefixes = ("", *(f"{group}__" for group in ("training", *learner.configs)))

    def whole(name):
        name = _PHASE_1.get(name, name)
        return next(prefix + name for prefix in prefixes if prefix + name in known)

    return learner.set_params(**{whole(name): v for name, v in settings.items()})
