"""The claims of the papers on PiCoDes and DBC, and why they may hold or not."""

from experiments._claims import (
    LONGEST,
    MUCH,
    PAPER_GAIN,
    PAPER_ITEMS,
    PAPER_SECONDS,
    Claim,
    both_ways,
    choosing,
    falls,
    gains_from_classes,
    known,
    known_at,
    longer,
    more_classes,
    never_rises,
    novel,
    novel_at,
    picodes_never_rise,
    searched,
    selecting,
    spare_bytes,
    spare_seconds,
    times_classemes,
    when_short,
)
from experiments._learners import FREE
from experiments.discriminative import CHOSEN
from experiments.novel_classes import FEW, FEW_AT, RELAXED

ACCURACY = "accuracy on novel classes"
SEARCH = "precision of a search by example"
SVM = "accuracy of a linear SVM for each class"
BOTH = "accuracy by linear SVM and by nearest neighbour"
DBC_BITS = 128

PEERS = {
    "LSH": (
        "random directions follow neither the data nor the classes",
        "enough random directions keep all that the features tell, PiCoDes what few "
        "principal components do",
    ),
    "SH": (
        "waves along the principal axes know no classes",
        "where the long axes separate classes, waves along them do, too",
    ),
    "BRE": (
        "BRE keeps distances, a linear SVM needs separated classes",
        "keeping the distances of good features keeps their classes apart",
    ),
    "classemes + RFE": (
        "a bit about one class says little of others; PiCoDes' bits serve many",
        "classemes are hyperplanes that are learnt from classes, too",
    ),
}
BESIDE = {
    "ITQ": (
        "the known classes add to the start, which is ITQ",
        "PiCoDes start from ITQ; what known classes add need not help new ones",
    ),
    "CCA-ITQ": (
        "CCA keeps no more directions than there are known classes",
        "what tells known classes apart tells new ones apart",
    ),
    "PiCoDes, random start": (
        "the descent stops at a minimum near its start, and ITQ is a good one",
        "the descent makes up for its start",
    ),
    "PiCoDes, whole steps": (
        "few whole steps lower the objective; parts of the way often do",
        "a lower objective on known classes need not help new ones",
    ),
}

PICODES = [
    *(
        Claim(
            "P1",
            f"PiCoDes are above {peer} at every length",
            f"{ACCURACY}, PiCoDes less {peer}",
            novel("PiCoDes", peer),
            *reasons,
        )
        for peer, reasons in PEERS.items()
    ),
    Claim(
        "P1",
        f"PiCoDes of {LONGEST} bits reach LP-beta",
        f"{ACCURACY}, PiCoDes less LP-beta",
        novel_at(LONGEST, "PiCoDes", "LP-beta"),
        "so many bits keep what the kernels see, and suit a linear SVM",
        "LP-beta weighs its kernels by the novel classes, codes know others only",
    ),
    Claim(
        "P1",
        f"PiCoDes of {LONGEST} bits reach the features themselves",
        f"{ACCURACY}, PiCoDes less float",
        novel_at(LONGEST, "PiCoDes", "float"),
        "so many signs lose next to nothing of the features",
        "signs lose the lengths along the directions, and few principal components, "
        "chosen for 64 bits, the rest",
    ),
    Claim(
        "P1",
        "the objective never rises",
        "the objective of PiCoDes, before an iteration less after it, the least",
        picodes_never_rise,
        "only steps that lower it are taken",
        "a step was taken that raises it",
        exact=True,
    ),
    Claim(
        "P1",
        "PiCoDes gain more from known classes than classemes",
        f"{ACCURACY}, from the most classes less from the fewest, PiCoDes less "
        "classemes",
        gains_from_classes,
        "a bit that serves all classes gets better by each",
        "classemes get a bit more with each class, PiCoDes have as many from the start",
    ),
    Claim(
        "P1",
        "more known classes make better codes",
        f"{ACCURACY}, PiCoDes from the most classes less from the fewest",
        more_classes,
        "bits that serve more classes say more about others",
        "items and directions of a few classes are enough for the features at hand",
    ),
    Claim(
        "P1",
        f"PiCoDes of {FEW_AT} bits reach classemes that learn from five times as much",
        f"{ACCURACY}, {FEW} less classemes",
        novel_at(FEW_AT, FEW, "classemes"),
        "bits that serve all classes need fewer items of each",
        "so few items do not show what a class is like",
    ),
    *(
        Claim(
            "P1",
            f"PiCoDes find more than {name}",
            f"{SEARCH}, PiCoDes less {name}",
            searched(peer),
            *reasons,
        )
        for peer, name, reasons in (
            ("LSH", "LSH", PEERS["LSH"]),
            ("SH", "SH", PEERS["SH"]),
            ("classemes", "classemes", PEERS["classemes + RFE"]),
            (
                "class",
                "the code of the predicted class",
                (
                    "one known class cannot describe a new one",
                    "the new classes are near known ones",
                ),
            ),
        )
    ),
    Claim(
        "P1",
        f"PiCoDes find {PAPER_GAIN:.0%} more than classemes",
        f"{SEARCH}, PiCoDes of each length over classemes (a bit for each known "
        "class, mostly fewer), less 1",
        times_classemes,
        PEERS["classemes + RFE"][0],
        PEERS["classemes + RFE"][1],
        PAPER_GAIN,
    ),
    Claim(
        "P2",
        "relaxed PiCoDes are much worse",
        f"{ACCURACY}, PiCoDes less relaxed",
        novel("PiCoDes", "relaxed PiCoDes"),
        "sigmoids move the bits away from what the classifiers see",
        "both start from ITQ; gradients (Adam, T falling) find a way from there, too",
        MUCH,
    ),
    *(
        Claim(
            "P2",
            f"{name} are much worse",
            f"{ACCURACY}, PiCoDes less {name}",
            novel("PiCoDes", name),
            "sigmoids move the bits away from what the classifiers see",
            "gradients find a way as well",
            MUCH,
        )
        for name in RELAXED
    ),
    Claim(
        "P3",
        f"an item takes {LONGEST // 8} bytes",
        f"bytes: an eighth of {LONGEST} bits less the collection's share",
        spare_bytes,
        "codes are packed, and nothing is kept beside them",
        "something is kept beside the codes",
        exact=True,
    ),
    Claim(
        "P3",
        f"a search of {PAPER_ITEMS:,} items takes {PAPER_SECONDS:g} s, learning "
        "included",
        f"seconds: {PAPER_SECONDS:g} less the median search by the slowest code of "
        f"{LONGEST} bits, its ranking scaled to as many items",
        spare_seconds,
        "an SVM on a thousand codes, and a table entry for each byte, take no longer",
        "learning the classifier takes longer than the ranking",
    ),
    *(
        Claim(
            "not in the paper",
            f"PiCoDes are above {peer}",
            f"{ACCURACY}, PiCoDes less {peer}",
            novel("PiCoDes", peer),
            *reasons,
        )
        for peer, reasons in BESIDE.items()
    ),
    *(
        Claim(
            "not in the paper",
            f"PiCoDes find more than {peer}",
            f"{SEARCH}, PiCoDes less {peer}",
            searched(peer),
            *BESIDE[peer],
        )
        for peer in ("ITQ", "CCA-ITQ")
    ),
]

DBC = [
    Claim(
        "D1",
        "DBC is above CCA-ITQ",
        f"{BOTH}, DBC less CCA-ITQ",
        both_ways("DBC", "CCA-ITQ"),
        "CCA keeps no more directions than there are classes",
        "CCA finds what separates classes at once, DBC only near its start",
    ),
    *(
        Claim(
            "D1",
            f"{one} is above {peer}",
            f"{BOTH}, {one} less {peer}",
            both_ways(one, peer),
            f"{peer} is learnt without classes",
            "labels of few items say less than the features themselves",
        )
        for one in ("CCA-ITQ", "DBC")
        for peer in ("SH", "LSH")
    ),
    Claim(
        "D1",
        "DBC is above PQ",
        "accuracy of the nearest neighbour, DBC less PQ",
        known("DBC", "PQ", "nearest"),
        "PQ keeps distances, and is learnt without classes",
        "PQ compares with the features of the query, not with its code",
    ),
    Claim(
        "D1",
        "DBC finds more than PQ",
        "precision of a linear SVM for each class, DBC less PQ",
        known("DBC", "PQ", "precision"),
        "PQ is learnt without classes",
        "what is left of the features says more than bits",
    ),
    Claim(
        "D2",
        "DBC-L1 is no worse than DBC",
        f"{SVM}, bits selected for it less all bits",
        known("DBC", "DBC", "selected", "svm"),
        "bits that say nothing about a class only add noise",
        "a linear SVM already gives useless bits little weight, and loses by fewer",
    ),
    Claim(
        "D2",
        "DBC-L1 gains more where bits are few",
        f"{SVM}, the gain at the fewest bits less that at the most",
        when_short(selecting),
        "short codes have more to lose to bits that do not fit",
        "few bits leave no choice",
    ),
    Claim(
        "D2",
        f"{CHOSEN}, as many bits for each class, is above DBC",
        f"{SVM}, as many bits of longer codes selected for each class, less codes of "
        "as many bits",
        choosing,
        "each class has bits of its own, which a short code cannot have",
        "what is selected on few items fits them, not the class",
    ),
    Claim(
        "D2",
        f"{CHOSEN} gains more where bits are few",
        f"{SVM}, the gain at the fewest bits less that at the most",
        when_short(choosing),
        "where a code is short, bits for all classes serve each of them less",
        "so few bits are too few for a class, too",
    ),
    Claim(
        "D3",
        f"DBC of {DBC_BITS} bits reaches LP-beta",
        f"{SVM}, DBC less LP-beta",
        known_at(DBC_BITS, "LP-beta", "accuracy"),
        "the classes are known, and the bits are learnt for them",
        "LP-beta sees the features, not their signs",
    ),
    Claim(
        "D3",
        f"DBC of {DBC_BITS} bits reaches the features themselves",
        f"{SVM}, DBC less float",
        known_at(DBC_BITS, "float", "svm"),
        "the classes are known, and the bits are learnt for them",
        "signs lose the lengths along the directions",
    ),
    Claim(
        "D3",
        "more bits are better",
        f"{SVM}, DBC of a length less the length before",
        longer,
        "each bit divides the classes in another way",
        "nothing keeps a new bit from being like an old one",
    ),
    Claim(
        "D3",
        "codes by image are above codes by category",
        f"{SVM}, DBC by image less by category",
        known("DBC", "DBC, by category"),
        "items that differ from their class keep bits of their own",
        "with one label for all of a class, hyperplanes are easier to learn",
    ),
    *(
        Claim(
            "D3",
            f"codes by image whose labels differ ({name}) are above codes by category",
            f"{SVM}, {name} less by category",
            known(name, "DBC, by category"),
            "items that differ from their class keep bits of their own",
            "with one label for all of a class, hyperplanes are easier to learn",
        )
        for name in FREE
    ),
    Claim(
        "D4",
        "DBC is above PiCoDes on novel classes",
        f"{ACCURACY}, DBC less PiCoDes",
        novel("DBC", "PiCoDes"),
        "bits that hyperplanes can predict carry over to other classes",
        "bits with one value for each known class keep little else of the features",
    ),
    *(
        Claim(
            "D4",
            f"DBC whose labels differ ({name}) is above PiCoDes on novel classes",
            f"{ACCURACY}, {name} less PiCoDes",
            novel(name, "PiCoDes"),
            "bits that hyperplanes can predict carry over to other classes",
            "labels that differ within a class are harder to predict, so bits do not "
            "carry over",
        )
        for name in FREE
    ),
    Claim(
        "D5",
        "the objective never rises",
        "the objective of DBC, before an iteration less after it, the least",
        never_rises,
        "only steps that lower it are taken",
        "a step was taken that raises it",
        exact=True,
    ),
    *(
        Claim(
            "D5",
            text,
            f"{compared}, first iteration less last",
            falls(term, sign),
            "the steps lower it along with the sum",
            "another term falls by more",
        )
        for text, compared, term, sign in (
            ("labels of a class agree more", "pairs of a class apart", "intra", 1),
            (
                "labels of classes differ more",
                "pairs of two classes alike",
                "inter",
                -1,
            ),
            ("the hyperplanes' norms fall", "the regulariser", "regulariser", 1),
            ("the errors of the hyperplanes fall", "the slack", "slack", 1),
        )
    ),
    Claim(
        "not in the paper",
        "DBC is above ITQ, learnt without classes",
        f"{BOTH}, DBC less ITQ",
        both_ways("DBC", "ITQ"),
        "ITQ is learnt without classes",
        "labels of few items say less than the features themselves",
    ),
]
