"""``fewbits fit``, and the learning that ``fewbits build`` does."""

import glob
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer import Option

from fewbits.cli import _options as opt
from fewbits.cli._printing import learning_bar, print_json, say
from fewbits.errors import ArgumentError, InterruptedWarning

if TYPE_CHECKING:
    from fewbits.collection import Collection
    from fewbits.inputs import Input


def fit(
    items: opt.InputPath,
    output: Annotated[Path, Option("--output", "-o", help="Folder for the encoder.")],
    learner: opt.Learner = None,
    bits: opt.Bits = None,
    backbone: opt.Backbone = None,
    column: opt.Column = None,
    images: opt.Images = None,
    label: opt.Label = None,
    id: opt.IgnoredId = None,
    skip_blank: opt.SkipBlank = False,
    skip_unreadable: opt.SkipUnreadable = False,
    normalize: opt.Normalize = False,
    groups: opt.GroupColumn = None,
    sample: opt.Sample = None,
    settings: opt.Settings = None,
    kernel_map: opt.KernelMap = None,
    codebook: opt.CodebookPath = None,
    random_state: opt.RandomState = None,
    checkpoint: opt.Checkpoint = None,
    device: opt.Device = None,
    overwrite: opt.Overwrite = False,
    as_json: opt.Json = False,
) -> None:
    """Learn an encoder from INPUT alone: a collection without rows.

    'fewbits build' fills it, with the same items or others, or makes others by its
    encoder (--encoder). Where an encoder is not shared, build learns it by itself.

    After Ctrl-C, or if training diverges (NaN or infinity) after the first epoch, the
    encoder learnt so far is saved, unless it would replace a collection; the exit code
    is 130.

    Deep methods except llc also take settings of their loss and of posterior control,
    under their names in Python: --set loss.quantization=0.01 --set control=posterior
    --set control.mode=replace --set control.weight=0.1.

    Example: fewbits fit vectors.npy --learner itq --bits 256 -o my-collection

    Example: fewbits fit more.csv --column text --label kind --learner llc --codebook
    my-collection -o another
    """
    from fewbits import inputs, training
    from fewbits.collection import tools

    tools.check_target(output, overwrite=overwrite)
    if groups is not None and groups == id:
        raise ArgumentError("ids differ: --groups needs another column than --id")
    learning = Learning(
        learner=learner,
        bits=bits,
        backbone=backbone,
        groups=groups,
        sample=sample,
        settings=settings,
        kernel_map=kernel_map,
        codebook=codebook,
        random_state=random_state,
        checkpoint=checkpoint,
        device=device,
        normalize=normalize or None,
    )
    with learning.keeping_checkpoints(output):
        source = inputs.read(
            items,
            column=column,
            images=images,
            label=label,
            id=id,
            columns=() if groups is None else (groups,),
            skip_blank=skip_blank,
            skip_unreadable=skip_unreadable,
        )
        collection = learning.run(source, output)
        collection.save(output, overwrite=overwrite)
    if as_json:
        print_json({"collection": str(output), **collection.summary()})
        return
    n = len(source) if sample is None else min(sample, len(source))
    typer.echo(f"{output}: {collection.encoder!r} from {n:,} {source.kind}")
    learning.tell(collection)
    if label is not None and not training.describe(learning.name).needs_labels:
        say(
            f"note: {learning.name} learns without labels; 'fewbits methods' names "
            "the methods that learn from them"
        )
    options = {
        "--column": column,
        "--images": images,
        "--label": label,
        "--id": id or source.likely_id,
        "--skip-blank": skip_blank,
        "--skip-unreadable": skip_unreadable,
    }
    typer.echo(f"next: {opt.command_line('build', output, items, **options)}")


@dataclass(frozen=True)
class Learning:
    """The options of learning."""

    learner: str | None
    bits: int | None
    backbone: str | None
    groups: str | None
    sample: int | None
    settings: list[str] | None
    kernel_map: str | None
    codebook: Path | None
    random_state: int | None
    checkpoint: Path | None
    device: str | None
    normalize: bool | None

    @property
    def name(self) -> str:
        """The method."""
        return self.learner or "itq"

    def options(self) -> list[str]:
        """Return the options that were given."""
        named = {("set" if x == "settings" else x): y for x, y in vars(self).items()}
        return [
            f"--{name.replace('_', '-')}"
            for name, value in named.items()
            if value not in (None, [])
        ]

    def check_none(self, why: str) -> None:
        """Refuse options of learning, but for the number of bits."""
        for option in self.options():
            if option != "--bits":
                raise ArgumentError(f"{why}: leave out {option}")

    def check_same(self, path: Path, built: "Collection") -> None:
        """Refuse options that are not those by which a collection has learnt.

        A device and a checkpoint say nothing about what was learnt.
        """
        facts, extra = built.facts, built.facts.extra
        codebook = None if self.codebook is None else str(self.codebook)
        seed = facts.parameters.get("random_state", self.random_state)
        pairs = {
            "--learner": (self.learner, facts.method),
            "--bits": (self.bits, built.encoder.n_bits),
            "--backbone": (self.backbone, built.backbone),
            "--groups": (self.groups, extra.get("groups")),
            "--sample": (self.sample, extra.get("sample", facts.trained_on)),
            "--normalize": (self.normalize, facts.normalize),
            "--kernel-map": (self.kernel_map, facts.kernel_map),
            "--codebook": (codebook, extra.get("codebook")),
            "--random-state": (self.random_state, seed),
        }
        pairs = {option: pair for option, pair in pairs.items() if pair[0] is not None}
        for name, value in opt.parse_settings(self.settings or []).items():
            if name != "checkpoint":
                pairs[f"--set {name}"] = (value, facts.parameters.get(name))
        for option, (value, has) in pairs.items():
            if value != ([*has] if isinstance(has, tuple) else has):
                shown = "none" if has is None else has
                raise ArgumentError(
                    f"{path} has an encoder already, of {option} {shown}, not {value}: "
                    f"leave out {option}, or replace the collection by --overwrite"
                )

    @contextmanager
    def keeping_checkpoints(self, output: Path) -> Iterator[None]:
        """Say what an interrupt in the block leaves; keep checkpoints until then."""
        from fewbits.learners import fitting

        was_there, checkpoint = _is_collection(output), self._checkpoint()
        try:
            with fitting.checkpoints_kept():
                yield
        except KeyboardInterrupt as error:
            parts = [str(error) or "interrupted"]
            if was_there:
                parts.append(f"{output} is unchanged")
            again = error.__cause__ is None  # else the same numbers would end it again
            if again and checkpoint is not None:
                phases = checkpoint.parent.glob(f"{glob.escape(checkpoint.name)}.*")
                if checkpoint.exists() or any(phases):
                    parts.append(f"the same command resumes from {checkpoint}")
            if parts == ["interrupted"]:
                parts = ["interrupted before anything was saved"]
            raise KeyboardInterrupt("; ".join(parts)) from None

    def run(self, source: "Input", output: Path) -> "Collection":
        """Return a collection without rows; save what an interrupt leaves, and exit."""
        from fewbits.collection import fit, tools

        parameters, seed = self._parameters(), self.random_state or 0
        facts = {"sample": self.sample, "groups": self.groups}
        device = opt.on_device(self.device, [self.name])
        if self.sample is not None:
            source = source.sample(self.sample, seed)
        if self.codebook is not None:
            parameters["codebook"] = self._class_codes(source, parameters, seed)
            facts["codebook"] = str(self.codebook)
        caught: list[InterruptedWarning] = []
        shown = warnings.showwarning

        def show(message: Any, *where: Any, **more: Any) -> None:
            if isinstance(message, InterruptedWarning):
                caught.append(message)
            else:
                shown(message, *where, **more)

        with warnings.catch_warnings(), learning_bar("learning") as progress, device:
            warnings.simplefilter("always", InterruptedWarning)
            warnings.showwarning = show
            collection = fit(
                source,
                learner=self.name,
                bits=self.bits,
                backbone=self.backbone,
                random_state=seed,
                parameters=parameters,
                normalize=bool(self.normalize),
                kernel_map=self.kernel_map,
                groups=None if self.groups is None else source.columns[self.groups],
                progress=progress,
            )
        facts = {name: fact for name, fact in facts.items() if fact is not None}
        collection = tools.with_facts(collection, **facts)
        if not caught:
            return collection
        # What was partly learnt is saved, unless it replaces something finished, or
        # stands in a checkpoint: it would block the same command. That would fail again
        # where training diverged.
        warning = caught[-1]
        text = f"interrupted after {warning.n_done} of {warning.n_planned} iterations"
        diverged = warning.__cause__
        if diverged is not None:
            text += f": {warning}"
        if not _is_collection(output) and (self._checkpoint() is None or diverged):
            when = f"after {warning.n_done} iterations"
            tools.with_facts(collection, interrupted=when).save(output)
            text += f"; {output} holds the encoder learnt so far"
        raise KeyboardInterrupt(text) from diverged

    def tell(self, collection: "Collection") -> None:
        """Say what the learner has chosen or changed by itself."""
        for name, number in collection.facts.extra.get("chosen", {}).items():
            typer.echo(f"note: chose {name}={number:g}")
        if n_classes := collection.facts.repaired_classes:
            classes = "1 class" if n_classes == 1 else f"{n_classes:,} classes"
            typer.echo(
                f"note: the codes of {classes} were changed, because they "
                "equalled those of other classes"
            )

    def _class_codes(
        self, source: "Input", parameters: dict[str, Any], seed: int
    ) -> Any:
        """Return codes for the classes: those of a collection, or made from a tree."""
        from fewbits.training import class_codes_for

        path = self.codebook
        assert path is not None
        if "codebook" in parameters:
            raise ArgumentError(
                f"give one codebook, got {path} and {parameters['codebook']}"
            )
        codes: Any = path if path.suffix == ".json" else opt.open_at(path).codebook
        if codes is None:
            raise ArgumentError(f"{path} is a collection without class codes")
        n_bits = parameters.get("n_bits") if self.bits is None else self.bits
        return class_codes_for(
            codes, source, self.name, n_bits=n_bits, random_state=seed
        )

    def _parameters(self) -> dict[str, Any]:
        """Return the parameters of the learner that the options set."""
        parameters = opt.parse_settings(self.settings or [])
        if self.random_state is not None and "random_state" in parameters:
            both = f"{self.random_state} and {parameters['random_state']}"
            raise ArgumentError(f"give one seed, got {both}")
        if self.checkpoint is not None:
            parameters["checkpoint"] = str(self.checkpoint)
        return parameters

    def _checkpoint(self) -> Path | None:
        path = self._parameters().get("checkpoint")
        return None if path is None else Path(str(path))


def _is_collection(path: Path) -> bool:
    return (path / "collection.json").exists()
