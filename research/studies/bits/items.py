"""Items with words, and their division into those to learn from and those held out."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fewbits import backbones, datasets
from research.common.classic import classic_features, is_classic, some_of_each
from research.common.features import CALTECH, NOT_CLASSES, load_image_features

N_NOVEL, N_LEARN = 25, 30
#: Held out of each class at most, so that the largest ones do not name every bit.
N_HELD = 30
#: Kinds of things that classes of Caltech-101 belong to, given by hand, the widest
#: first. Names of classes are words that no other class has: a bit that is named by
#: them on some classes cannot be checked on others. Kinds can.
KINDS = {
    "artefact": "Motorbikes accordion airplanes anchor barrel binocular camera cannon "
    "car_side ceiling_fan cellphone chair chandelier cup electric_guitar euphonium "
    "ewer ferry gramophone grand_piano headphone helicopter inline_skate ketch lamp "
    "laptop mandolin menorah metronome revolver saxophone schooner scissors "
    "soccer_ball stapler umbrella watch wheelchair windsor_chair wrench",
    "animal": "Leopards ant bass beaver brontosaurus butterfly cougar_body cougar_face "
    "crab crayfish crocodile crocodile_head dalmatian dolphin dragonfly elephant emu "
    "flamingo flamingo_head gerenuk hawksbill hedgehog ibis kangaroo llama lobster "
    "mayfly nautilus octopus okapi panda pigeon platypus rhino rooster scorpion "
    "sea_horse starfish stegosaurus tick trilobite wild_cat",
    "mammal": "Leopards beaver cougar_body cougar_face dalmatian dolphin elephant "
    "gerenuk hedgehog kangaroo llama okapi panda platypus rhino wild_cat",
    "bird": "emu flamingo flamingo_head ibis pigeon rooster",
    "reptile": "brontosaurus crocodile crocodile_head hawksbill stegosaurus",
    "arthropod": "ant butterfly crab crayfish dragonfly lobster mayfly scorpion tick "
    "trilobite",
    "aquatic": "bass crab crayfish dolphin hawksbill lobster nautilus octopus "
    "sea_horse starfish trilobite",
    "plant": "bonsai joshua_tree lotus strawberry sunflower water_lilly",
    "vehicle": "Motorbikes airplanes car_side ferry helicopter ketch schooner "
    "wheelchair",
    "instrument": "accordion electric_guitar euphonium grand_piano mandolin saxophone",
    "device": "binocular camera ceiling_fan cellphone gramophone headphone laptop "
    "metronome stapler watch",
    "tool": "anchor cannon revolver scissors wrench",
    "furniture": "chair chandelier lamp menorah windsor_chair",
    "vessel": "barrel cup ewer",
    "building": "minaret pagoda pyramid",
    "picture": "dollar_bill garfield snoopy stop_sign yin_yang",
}

Rows = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Items:
    """Features of items, their classes, and what people say about them.

    `words` are texts that name bits; `kinds` are classes of classes, empty where there
    is none. Images are named by their classes.
    """

    name: str
    X: NDArray[np.float32]
    classes: NDArray[Any]
    words: list[str]
    kinds: NDArray[Any]
    are_images: bool


def load_items(name: str) -> Items:
    """Return all diagnoses of ``icd10``, digits, or photographs of Caltech-101.

    Of ``caltech101-1280`` all, of ``caltech101-classic`` those that are described.
    """
    if name == "icd10":
        data = datasets.load_icd10()
        features = backbones.load("wordllama-256").extract(data.items)
        labels = data.labels
        texts = list(data.items)
        return Items(name, features, labels["block"], texts, labels["chapter"], False)
    if name == "digits":
        data = datasets.load_digits()
        classes = data.labels["class"].astype(str)
        words = [
            f"{each} {'even' if int(each) % 2 == 0 else 'odd'}" for each in classes
        ]
        return Items(name, data.items, classes, words, classes, True)
    return _caltech101(name)


def _caltech101(name: str) -> Items:
    if is_classic(name):
        data = datasets.load("caltech101")
        rows = some_of_each(data.labels["class"], NOT_CLASSES)
        features = classic_features(data, rows)
    else:
        data, every = load_image_features("caltech101", CALTECH[name])
        rows = np.flatnonzero(~np.isin(data.labels["class"], NOT_CLASSES))
        features = every[rows]
    classes = data.labels["class"][rows]
    kinds = {
        each: [kind for kind, members in KINDS.items() if each in members.split()]
        for each in set(classes.tolist())
    }
    words = [" ".join([each, *kinds[each]]) for each in classes.tolist()]
    narrowest = np.array([[*[""], *kinds[each]][-1] for each in classes.tolist()])
    return Items(name, features, classes, words, narrowest, True)


def divide(classes: NDArray[Any], seed: int, n_novel: int) -> list[Rows]:
    """Draw rows to learn from, and held-out rows of known classes and of novel ones."""
    rng = np.random.default_rng(seed)
    names, counts = np.unique(classes, return_counts=True)
    chosen = set(rng.permutation(names[counts >= N_HELD])[:n_novel].tolist())
    learn, known, novel = [], [], []
    for each in names.tolist():
        rows = rng.permutation(np.flatnonzero(classes == each))
        if each in chosen:
            novel.append(rows[:N_HELD])
        else:
            learn.append(rows[:N_LEARN])
            known.append(rows[N_LEARN:][:N_HELD])
    return [np.concatenate(part) for part in (learn, known, novel)]
