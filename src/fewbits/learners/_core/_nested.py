"""Settings in groups: small estimators inside a learner, named ``group__setting``."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar, Self, TypeVar

from sklearn.base import BaseEstimator

from fewbits.errors import ArgumentError


class Config(BaseEstimator, ABC):  # type: ignore[misc]
    """A group of settings.

    Implemented as a dataclass, so that a setting is written once, with its default.
    """

    @abstractmethod
    def check(self) -> None:
        """Refuse settings that are out of range.

        Raises
        ------
        ArgumentError
            In one line that says what came and what was needed.
        """


Group = TypeVar("Group", bound=Config)


class Configured(BaseEstimator):  # type: ignore[misc]
    """An estimator whose settings are partly in groups; None stands for the defaults.

    Attributes
    ----------
    configs : mapping from str to type of Config
        The parameters that are groups.
    """

    configs: ClassVar[Mapping[str, type[Config]]] = {}

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return parameters; if `deep`, also those of groups, defaults included."""
        found: dict[str, Any] = super().get_params(deep)
        if deep:
            for group, kind in self.configs.items():
                if found[group] is None:
                    defaults = kind().get_params()
                    found |= {f"{group}__{name}": v for name, v in defaults.items()}
        return found

    def set_params(self, **params: Any) -> Self:
        """Set parameters, also those of groups, such as ``training__batch_size``."""
        for group, kind in self.configs.items():
            inside = any(name.startswith(f"{group}__") for name in params)
            if inside and getattr(self, group) is None:
                setattr(self, group, kind())
        super().set_params(**params)
        return self

    def _config(self, group: str, kind: type[Group]) -> Group:
        """Return the settings of a group."""
        given = getattr(self, group)
        return kind() if given is None else given

    def _check_configs(self) -> None:
        for group, kind in self.configs.items():
            given = self._config(group, kind)
            if not isinstance(given, kind):
                raise ArgumentError(
                    f"{group} must be a {kind.__name__} or None, got {given!r}"
                )
            given.check()
