"""Training that can be repeated, killed, resumed, watched and stopped."""

import re
from copy import deepcopy
from io import BytesIO

import numpy as np
import pytest
import torch
from sklearn.exceptions import NotFittedError
from torch import nn

from fewbits.errors import (
    ArgumentError,
    ArtefactError,
    DivergedError,
    FewbitsError,
)
from fewbits.learners.deep import (
    LLC,
    DeepHash,
    NetworkConfig,
    PosteriorControl,
)
from fewbits.learners.deep.losses import CSQ, LOSSES, GreedyHash, HashNet
from fewbits.learners.fitting import on_progress
from tests.learners._made import made

y = np.repeat(np.arange(5), 30)
rng = np.random.default_rng(0)
X = (np.eye(5, 12)[y] * 3 + rng.normal(size=(150, 12))).astype(np.float32)


def learner(**options):
    options = {
        "n_bits": 16,
        "max_epochs": 6,
        "random_state": 0,
        "device": "cpu",
    } | options
    return made(DeepHash, **options)


class Killed(Exception):
    pass


def kill_at(epoch):
    def callback(record):
        if record["epoch"] == epoch:
            raise Killed

    return callback


def test_same_seed_same_network():
    options = {"hidden": (8,), "dropout": 0.3, "control": PosteriorControl()}
    one, two = (learner(**options).fit(X, y) for _ in range(2))
    assert one.encoder_.fingerprint == two.encoder_.fingerprint
    assert one.objective_.tolist() == two.objective_.tolist()


def test_torch_generator_of_the_caller_is_left_alone():
    torch.manual_seed(7)
    expected = torch.rand(3)
    torch.manual_seed(7)
    learner(dropout=0.5, hidden=(8,)).fit(X, y)
    assert torch.equal(torch.rand(3), expected)


@pytest.mark.parametrize("loss", LOSSES)
def test_killed_training_resumes_to_the_same_result(loss, tmp_path):
    options = {
        "loss": loss,
        "hidden": (8,),
        "dropout": 0.3,
        "control": PosteriorControl(n_hidden=16),
        "max_epochs": 3,
    }
    whole = learner(**options).fit(X, y)
    path = tmp_path / "training.pt"
    with pytest.raises(Killed):
        learner(**options, checkpoint=path, callbacks=[kill_at(2)]).fit(X, y)
    resumed = learner(**options, checkpoint=path).fit(X, y)
    assert resumed.encoder_.fingerprint == whole.encoder_.fingerprint
    assert resumed.objective_.tolist() == whole.objective_.tolist()
    again = learner(**options, checkpoint=path).fit(X, y)
    assert again.encoder_.fingerprint == whole.encoder_.fingerprint
    for fitted in (resumed, again):
        np.testing.assert_array_equal(fitted.classifier_, whole.classifier_)


def test_a_checkpoint_in_no_folder_is_told_at_once(tmp_path):
    seen = []
    model = learner(checkpoint=tmp_path / "none" / "c.pt", callbacks=[seen.append])
    with pytest.raises(FileNotFoundError, match="none"):
        model.fit(X, y)
    assert not seen


def test_both_phases_of_llc_resume(tmp_path):
    options = {
        "random_state": 0,
        "codebook_epochs": 4,
        "max_epochs": 4,
        "device": "cpu",
    }
    whole = made(LLC, **options).fit(X, y)
    for n_seen in (2, 6):
        path = tmp_path / f"{n_seen}.pt"
        seen = []

        def callback(record, seen=seen, n_seen=n_seen):
            seen.append(record)
            if len(seen) == n_seen:
                raise Killed

        with pytest.raises(Killed):
            made(LLC, **options, checkpoint=path, callbacks=[callback]).fit(X, y)
        resumed = made(LLC, **options, checkpoint=path).fit(X, y)
        assert resumed.encoder_.fingerprint == whole.encoder_.fingerprint
        assert np.array_equal(resumed.codebook_, whole.codebook_)
        assert len(resumed.codebook_history_) == 4


@pytest.mark.parametrize("codebook", ["cca", "predictable"])
def test_a_resumed_codebook_is_the_one_trained_for(tmp_path, codebook):
    """The backbone has changed by then, and would make another one."""

    def kill(record):
        if record["epoch"] == 5:
            raise Killed

    def llc(backbone, **more):
        options = {"max_epochs": 8, "random_state": 0, "device": "cpu", "n_bits": 4}
        rates = {"backbone_rate": 1.0, "learning_rate": 0.05}
        return made(
            LLC, codebook=codebook, backbone=backbone, **options, **rates, **more
        )

    torch.manual_seed(0)
    given = nn.Sequential(nn.Linear(X.shape[1], 12), nn.ReLU(), nn.Linear(12, 12))
    whole = llc(deepcopy(given)).fit(X, y)
    with pytest.raises(Killed):
        llc(given, checkpoint=tmp_path / "c.pt", callbacks=[kill]).fit(X, y)
    resumed = llc(given, checkpoint=tmp_path / "c.pt").fit(X, y)
    assert resumed.encoder_.fingerprint == whole.encoder_.fingerprint
    assert np.array_equal(resumed.codebook_, whole.codebook_)


@pytest.mark.parametrize("random_state", [None, np.random.RandomState(0)])
def test_a_checkpoint_needs_a_seed(tmp_path, random_state):
    model = made(DeepHash, 8, checkpoint=tmp_path / "c.pt", random_state=random_state)
    with pytest.raises(ArgumentError, match="random_state must be an integer"):
        model.fit(X, y)


@pytest.mark.parametrize(
    "parts",
    [
        [{"control": PosteriorControl(weight=np.float32(w))} for w in (0.5, 1.5)],
        [{"loss": HashNet(memory=np.int64(m))} for m in (20, 40)],
        [{"loss": CSQ(s * (torch.eye(5, 16) * 2 - 1))} for s in (1, -1)],
    ],
)
def test_parameters_of_any_kind_tell_checkpoints_apart(parts, tmp_path):
    options = {"max_epochs": 1, "checkpoint": tmp_path / "c.pt"}
    learner(**options, **parts[0]).fit(X, y)
    with pytest.raises(ArtefactError, match="belongs to another fit"):
        learner(**options, **parts[1]).fit(X, y)
    learner(**options, **parts[0]).fit(X, y)


def test_defaults_of_a_checkpoint_may_be_spelled_out(tmp_path):
    options = {"checkpoint": tmp_path / "c.pt", "random_state": 0}
    short = {"training__max_epochs": 1}
    DeepHash(8, **options).set_params(**short).fit(X, y)
    again = DeepHash(8, network=NetworkConfig(), **options).set_params(**short)
    assert again.fit(X, y).n_epochs_ == 1
    with pytest.raises(ArtefactError, match="network"):
        again.set_params(network__hidden=(4,), network__dropout=0.1).fit(X, y)


def test_a_checkpoint_belongs_to_all_items(tmp_path):
    model = made(
        DeepHash, 8, max_epochs=1, random_state=0, checkpoint=tmp_path / "c.pt"
    )
    model.fit(X, y)
    other = X.copy()
    other[1] += 1
    with pytest.raises(ArtefactError, match="belongs to another fit"):
        model.fit(other, y)


def test_checkpoint_belongs_to_a_backbone(tmp_path):
    def fit(width, seed, trainable):
        torch.manual_seed(seed)
        backbone = nn.Sequential(nn.Linear(12, width), nn.ReLU())
        path = tmp_path / f"{trainable}.pt"
        model = learner(backbone=backbone, trainable=trainable, checkpoint=path)
        return model.fit(X, y)

    for trainable in (None, 0):
        fit(8, 0, trainable)
        with pytest.raises(ArtefactError, match="backbone"):
            fit(9, 0, trainable)
    with pytest.raises(ArtefactError, match="backbone"):
        fit(8, 1, 0)  # other weights, which training would not have replaced


def test_callbacks_may_change_what_they_are_given():
    told = learner(callbacks=[lambda record: record.clear()]).fit(X, y)
    assert [sorted(record) for record in told.history_] == [
        sorted(record) for record in learner().fit(X, y).history_
    ]


def test_a_file_in_the_way_of_the_checkpoints_of_both_phases(tmp_path):
    path = tmp_path / "labels.npy"
    path.write_text("mine")
    with pytest.raises(ArgumentError, match=r"is a file: .* \(labels.npy.items\)"):
        made(LLC, 8, random_state=0, checkpoint=path).fit(X, y)
    assert [each.name for each in tmp_path.iterdir()] == ["labels.npy"]


def test_a_training_goes_on_without_what_a_kill_left(tmp_path):
    left = tmp_path / ".c.pt.abc.tmp"
    for _ in range(2):  # killed in its first epoch, and after it
        left.touch()
        learner(checkpoint=tmp_path / "c.pt", max_epochs=1).fit(X, y)
        assert not left.exists()


def test_another_random_state_and_other_networks_are_told_in_a_line(tmp_path):
    def deep(n):
        layers = [nn.Linear(X.shape[1], X.shape[1]) for _ in range(n)]
        return learner(
            backbone=nn.Sequential(*layers),
            checkpoint=tmp_path / "c.pt",
            max_epochs=1,
        )

    deep(30).fit(X, y)
    with pytest.raises(ArtefactError, match=r"backbone was .*; name another") as told:
        deep(31).fit(X, y)
    assert len(str(told.value)) < 400
    with pytest.raises(ArtefactError, match="fit: random_state was another; n"):
        deep(30).set_params(random_state=5).fit(X, y)


def test_callbacks_may_draw_random_numbers():
    options = {"hidden": (8,), "dropout": 0.5, "control": PosteriorControl()}
    quiet = learner(**options).fit(X, y)
    loud = learner(**options, callbacks=[lambda _: torch.rand(3)]).fit(X, y)
    assert loud.encoder_.fingerprint == quiet.encoder_.fingerprint


def test_codebook_before_numbers_ceased_to_be_finite_is_kept():
    model = made(
        LLC,
        backbone=nn.Sequential(nn.Linear(12, 12), Poison(after=7)),
        device="cpu",
        random_state=0,
    )
    with pytest.raises(DivergedError, match="not finite in epoch 3"):
        model.fit(X, y)
    assert len(np.unique(model.codebook_, axis=0)) == 5
    assert not hasattr(model, "encoder_")


def test_checkpoint_of_another_training_is_refused(tmp_path):
    path = tmp_path / "training.pt"
    learner(checkpoint=path).fit(X, y)
    with pytest.raises(
        ArtefactError, match=r"training.learning_rate was 0\.001, now 0\.01"
    ):
        learner(checkpoint=path, learning_rate=0.01).fit(X, y)
    with pytest.raises(ArtefactError, match="its rows or labels were others"):
        learner(checkpoint=path).fit(X + 1, y)
    with pytest.raises(ArtefactError, match="loss was 'csq', now"):
        learner(checkpoint=path, loss=CSQ(quantization=0.1)).fit(X, y)


@pytest.mark.parametrize("damage", ["truncated", "flipped", "another format"])
def test_damaged_checkpoint_is_refused(tmp_path, damage):
    path = tmp_path / "training.pt"
    learner(checkpoint=path).fit(X, y)
    content = bytearray(path.read_bytes())
    if damage == "truncated":
        content = content[: len(content) // 2]
    elif damage == "flipped":
        middle = len(content) // 2
        content[middle : middle + 64] = bytes(64)
    else:
        content = bytearray(b"no checkpoint")
    path.write_bytes(content)
    with pytest.raises(ArtefactError, match=re.escape(str(path))):
        learner(checkpoint=path).fit(X, y)


class Malicious:
    def __reduce__(self):
        return print, ("run",)


def test_checkpoint_runs_no_code(tmp_path, capsys):
    path = tmp_path / "training.pt"
    learner(checkpoint=path, max_epochs=1).fit(X, y)
    buffer = BytesIO()
    torch.save(Malicious(), buffer)
    with np.load(path) as file:
        arrays = dict(file)
    arrays["arr_0"] = np.frombuffer(buffer.getvalue(), np.uint8)
    with path.open("wb") as file:
        np.savez(file, **arrays)
    with pytest.raises(ArtefactError, match="is damaged"):
        learner(checkpoint=path, max_epochs=1).fit(X, y)
    assert capsys.readouterr().out == ""


def test_checkpoint_that_cannot_be_written(tmp_path):
    with pytest.raises(OSError, match="nowhere"):
        learner(checkpoint=tmp_path / "nowhere" / "training.pt").fit(X, y)


def test_network_and_classifier_are_those_of_the_best_epoch():
    started, seen = [], []

    class Watched(GreedyHash):
        def start(self, context):
            super().start(context)
            started.append(self)

    def callback(record):
        rows = started[-1].classifier.numpy().copy()
        seen.append((record["map"], backbone.weight.detach().clone(), rows))

    torch.manual_seed(0)
    backbone = nn.Linear(12, 12)
    options = {"max_epochs": 30, "learning_rate": 0.05, "validation": 0.3}
    options |= {"backbone": backbone, "backbone_rate": 1.0, "callbacks": [callback]}
    model = learner(loss=Watched(), **options).fit(X, y)
    best = max(range(30), key=lambda i: seen[i][0])
    assert best < 29  # or there would be nothing to go back from
    assert torch.equal(model.network_.backbone.weight, seen[best][1])
    assert np.array_equal(model.classifier_, seen[best][2])


def test_nothing_is_held_out_when_nothing_shall_be():
    history = learner(validation=0).fit(X, y).history_
    assert "map" not in history[0]
    assert history[0]["bound"] >= 0


def test_interrupt_keeps_what_was_learnt():
    def interrupt(record):
        if record["epoch"] == 2:
            raise KeyboardInterrupt

    with pytest.warns(UserWarning, match="interrupted after 2 of 6"):
        fitted = learner(callbacks=[interrupt]).fit(X, y)
    assert fitted.n_epochs_ == 2
    assert fitted.encode(X).shape == (150, 2)


class Interrupted(nn.Module):
    """Is interrupted at the batch of this number."""

    def __init__(self, at):
        super().__init__()
        self.layer, self.left = nn.Linear(12, 12), at

    def forward(self, features):
        self.left -= self.training
        if self.training and self.left == 0:
            raise KeyboardInterrupt
        return self.layer(features)


def test_interrupt_within_an_epoch_undoes_it():
    options = {
        "validation": 0,
        "max_epochs": 3,
        "learning_rate": 0.05,
        "batch_size": 30,
    }
    found = []
    for at in (6, 8):  # the first batch of the second epoch, and its third
        torch.manual_seed(0)
        with pytest.warns(UserWarning, match="interrupted after 1 of 3"):
            model = learner(backbone=Interrupted(at), **options).fit(X, y)
        found.append((model.encoder_.fingerprint, model.extract(X)))
    assert found[0][0] == found[1][0]
    assert np.array_equal(found[0][1], found[1][1])


def test_interrupt_before_the_last_phase_is_passed_on(tmp_path):
    def interrupt(record):
        if record["epoch"] == 2:
            raise KeyboardInterrupt

    options = {
        "random_state": 0,
        "codebook_epochs": 4,
        "max_epochs": 3,
        "device": "cpu",
    }
    options["checkpoint"] = tmp_path / "c.pt"
    with pytest.raises(KeyboardInterrupt):
        made(LLC, **options, callbacks=[interrupt]).fit(X, y)
    fitted = made(LLC, **options).fit(X, y)
    assert (len(fitted.codebook_history_), len(fitted.history_)) == (4, 3)


class Poison(nn.Module):
    """Passes features on until it has seen so many batches."""

    def __init__(self, after):
        super().__init__()
        self.layer, self.left = nn.Linear(12, 12), after

    def forward(self, features):
        self.left -= self.training
        poison = torch.nan if self.left < 0 else 0.0
        return self.layer(features) + poison


def test_nan_stops_training():
    backbone = nn.Sequential(nn.Linear(12, 12), Poison(after=7))
    model = learner(backbone=backbone, max_epochs=20)
    with pytest.raises(DivergedError, match="not finite in epoch 3"):
        model.fit(X, y)
    assert all(torch.isfinite(p).all() for p in backbone.parameters())


class Narrow(nn.Module):
    """Has no number for what is given to it in half precision."""

    def forward(self, features):
        return features * (torch.nan if features.dtype == torch.bfloat16 else 1.0)


def test_nan_of_mixed_precision():
    backbone = nn.Sequential(nn.Linear(12, 12), Narrow())
    with pytest.raises(DivergedError, match=r"set training.mixed_precision=False"):
        learner(backbone=backbone, mixed_precision=True).fit(X, y)


class SpoiltStep(nn.Module):
    """Gives a gradient that is not a number to the batch of this number."""

    def __init__(self, at):
        super().__init__()
        self.layer, self.left = nn.Linear(12, 12), at

    def forward(self, features):
        found = self.layer(features)
        if self.training:
            self.left -= 1
            if self.left == 0:
                found.register_hook(lambda gradient: gradient * torch.nan)
        return found


N_BATCHES = 3  # of 64 of the 135 items that are not held out


def test_last_step_of_an_epoch_may_not_spoil_the_network():
    model = learner(backbone=SpoiltStep(at=2 * N_BATCHES), max_epochs=3)
    with pytest.raises(DivergedError, match="in epoch 2; what was good"):
        model.fit(X, y)
    assert len(model.history_) == 1
    assert np.unique(model.encode(X), axis=0).shape[0] > 2  # the first epoch's codes


def test_what_was_reached_before_is_kept():
    options = {"loss": "greedyhash", "max_epochs": 4}
    model = learner(backbone=SpoiltStep(at=3 * N_BATCHES), **options)
    with pytest.raises(DivergedError, match=r"in epoch 3.*; what was good before is"):
        model.fit(X, y)
    assert model.n_epochs_ == len(model.history_) == len(model.objective_) == 2
    assert np.isfinite(model.classifier_).all()
    at_once = learner(backbone=SpoiltStep(at=1), **options)
    with pytest.raises(DivergedError, match=r"in epoch 1.*; nothing was good before"):
        at_once.fit(X, y)
    with pytest.raises(NotFittedError):
        at_once.encode(X)


class Masked(nn.Module):
    """Has a buffer that is not finite, as attention has."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(12, 12)
        self.register_buffer("mask", torch.full((12,), -torch.inf))

    def forward(self, features):
        return self.layer(features)


def test_buffers_of_a_backbone_need_not_be_finite():
    assert learner(backbone=Masked(), max_epochs=2).fit(X, y).n_epochs_ == 2


def test_rate_of_a_codebook_that_explodes():
    llc = made(
        LLC,
        8,
        codebook_rate=1e38,
        codebook_epochs=3,
        validation=0,
        random_state=0,
    )
    with pytest.raises(
        DivergedError, match=r"or lower codebook_training.learning_rate \(1e\+38\)"
    ):
        llc.fit(X, y)


def test_learning_rate_that_explodes():
    with pytest.raises(DivergedError, match=r"Lower training.learning_rate"):
        learner(loss="greedyhash", learning_rate=1e30, hidden=(16,), validation=0).fit(
            X, y
        )


class Hungry(nn.Module):
    def forward(self, features):
        if self.training:
            raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 9 GiB")
        return features


def test_advice_when_memory_is_too_small():
    with pytest.raises(FewbitsError, match=r"training.batch_size.*network.trainable=0"):
        learner(backbone=Hungry()).fit(X, y)


def test_advice_for_layers_that_memory_cannot_hold():
    with pytest.raises(FewbitsError, match=r"out of memory on cpu: .*network.hidden"):
        learner(hidden=(1_000_000, 100_000_000)).fit(X, y)


def test_advice_for_a_loss_that_memory_cannot_hold():
    class Hungry(CSQ):
        def start(self, context):
            raise MemoryError

    with pytest.raises(FewbitsError, match=r"out of memory on cpu: .*n_bits"):
        learner(loss=Hungry()).fit(X, y)


def test_sums_in_one_order_on_a_gpu_only():
    seen = []

    def callback(_):
        seen.append(torch.are_deterministic_algorithms_enabled())

    for device in ("auto", "cpu"):
        learner(device=device, max_epochs=1, callbacks=[callback]).fit(X, y)
    assert seen == [torch.cuda.is_available(), False]
    assert not torch.are_deterministic_algorithms_enabled()


def test_phases_are_told_to_callbacks_and_people():
    records, notes = [], []
    options = {
        "init": "svd",
        "codebook_epochs": 2,
        "max_epochs": 3,
        "n_bits": 4,
    }
    with on_progress(lambda *_: None, notes.append):
        made(LLC, **options, callbacks=[records.append], random_state=0).fit(X, y)
    phases = ["classifier"] * 20 + ["codebook"] * 2 + ["items"] * 3
    assert [record["phase"] for record in records] == phases
    assert [note.split("phase ")[1] for note in notes] == phases


def test_progress_is_shown(capsys):
    told, notes = [], []
    with on_progress(lambda done, total, _: told.append((done, total)), notes.append):
        learner(max_epochs=2, verbose=True).fit(X, y)
    assert told == [(1, 2), (2, 2)]
    note = r"objective [\d.]+, mAP [01]\.\d{3}, bound \d\.\d{3}"
    assert re.fullmatch(note, notes[1])
    shown = capsys.readouterr().err.split("\r")[-1]
    assert re.fullmatch(f"DeepHash: 2/2, {note}\n", shown)


def test_mixed_precision_learns_the_same_thing():
    half = learner(mixed_precision=True, max_epochs=20, learning_rate=0.02).fit(X, y)
    assert half.history_[-1]["map"] > 0.8
