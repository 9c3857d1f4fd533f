"""The claims of the paper on LLC, and why they may hold or not."""

from experiments._claims import Claim
from experiments._deep_claims import (
    as_predicted,
    between,
    exact_against_nearest,
    last_step,
    linear_on_scores,
    longer,
    matching_falls,
    nested,
    purity_beyond_chance,
    regained,
    repairs,
    separable,
    shorter,
    spare_codes,
    unrepaired,
    untuned,
)
from experiments.llc import MHD
from experiments.llc_foreign import BALANCED, CAREFUL, F1

#: What "a few points", "nearly equal", "at most 1 %" and "as accurate" shall mean.
POINTS, NEARLY, LITTLE, NOISE = 0.05, 0.05, 0.01, 0.02
#: The share of unknown items that a rule is asked to accept at most.
ASKED = 0.05
#: What "cannot" shall mean.
MUCH_WORSE = 0.1

#: As they are: the paper has codes that classes share.
BOOKS = {
    "SVD, as it is": (
        "the learnt book is fitted to what the network can tell, and nobody shares",
        "a smooth classifier's directions are easy to predict, and few classes share",
    ),
    "random": (
        "like classes get like codes, which a network can tell and which err to them",
        "random codes are far apart, which corrects errors",
    ),
    "CCA, as it is": (
        "directions that CCA ranks last tell classes badly, and some classes share",
        "CCA's directions separate classes, and few classes share",
    ),
}
#: Their equal codes changed, which the paper does not do.
REPAIRED = {
    "SVD": (
        "the learnt book is fitted to what the network can tell",
        "directions of a trained classifier are a book that is learnt, too",
    ),
    "CCA": (
        "directions that CCA ranks last tell classes badly",
        "CCA's directions separate classes, and equal codes have been repaired",
    ),
}
#: What they are decoded by.
WAYS = (("nearest code", MHD), ("exact", "exact"))

#: The tree of real-valued vectors is a scale for those of codes.
TREES = {
    "learnt": (
        "classes that are alike get like codes",
        "learnt codes part classes that look alike; nothing asks for the known tree",
    ),
    "predictable": (
        "what features foretell of bits is what classes share",
        "what features foretell is not what the known tree groups",
    ),
}

LLC = [
    *(
        Claim(
            code,
            f"learnt codes are above those of {book}{made}, {way}",
            f"accuracy, LLC less {book}",
            between("llc", "LLC", book, key),
            *reasons,
        )
        for code, books, made in (
            ("L1", BOOKS, ""),
            ("not in the paper", REPAIRED, " made unique"),
        )
        for way, key in WAYS
        for book, reasons in books.items()
    ),
    *(
        Claim(
            "L1",
            f"random codes are above those of CCA that classes share, {way}",
            "accuracy, random less CCA as it is",
            between("llc", "random", "CCA, as it is", key),
            "who shares a code is never told apart",
            "few classes share one, and the others' codes are easier to predict",
        )
        for way, key in WAYS
    ),
    Claim(
        "L1",
        "learnt codes are different without help",
        "0 less codes that had to be changed, LLC",
        unrepaired,
        "there are bits enough for classes to part",
        "of few bits for many classes, learning leaves some of them alike",
    ),
    Claim(
        "L1",
        "those of CCA are not",
        "codes that had to be changed, CCA, at least 1",
        repairs("CCA"),
        "nothing in CCA keeps signs of different classes apart",
        "there are enough bits for all signs to differ",
        1.0,
    ),
    *(
        Claim(
            "section 3.2",
            f"groups of the known tree are subtrees of {book} codes, beyond chance",
            f"dendrogram purity less that of shuffled classes, {book}",
            purity_beyond_chance(book),
            *reasons,
        )
        for book, reasons in TREES.items()
    ),
    Claim(
        "L2",
        "more bits are better for the nearest code",
        "accuracy of the nearest code, each length less the one before",
        longer(MHD),
        "more bits correct more errors",
        "there are bits enough",
    ),
    Claim(
        "L2",
        "exact decoding suffers from more bits in the end",
        "exact accuracy, the last length but one less the longest",
        last_step("exact"),
        "all bits have to be right, and each may be wrong",
        "the errors of bits go together, or the codes are still short",
    ),
    Claim(
        "L2",
        "a smaller share of bits is right in longer codes",
        "share of right bits, shortest less longest",
        matching_falls,
        "later bits split classes that are harder to split",
        "longer codes have more bits that are easy",
    ),
    Claim(
        "L2",
        "exact decoding is best with fewer bits than the nearest code",
        "best length for the nearest code less that for exact decoding",
        exact_against_nearest,
        "one asks that no bit is wrong, the other that few are",
        "both gain from the same bits",
        1.0,
    ),
    Claim(
        "L3",
        "phase 2 improves the codes of phase 1",
        "accuracy of the nearest code, phase 2 less phase 1",
        separable(("phases", "2", "nearest"), ("phases", "1", "nearest")),
        "phase 1 looks at scores, not at their signs",
        "scores that classify have the right signs",
    ),
    Claim(
        "L4",
        "LLC ranks above GreedyHash",
        "mAP, LLC less GreedyHash",
        between("llc_retrieval", "LLC", "GreedyHash", "map"),
        "items of a class are drawn to one code",
        "a classifier on bits is as good a teacher as a codebook",
    ),
    Claim(
        "L4",
        "GreedyHash ranks above HashNet",
        "mAP, GreedyHash less HashNet",
        between("llc_retrieval", "GreedyHash", "HashNet", "map"),
        "many classes are few pairs in a batch",
        "pairs say more where the features are good",
    ),
    Claim(
        "L4",
        "LLC of 32 bits ranks above HashNet of 64",
        "mAP, LLC at 32 bits less HashNet at 64",
        shorter(32, "LLC", 64, "HashNet"),
        "codes of classes use bits well",
        "HashNet gains more by length",
    ),
    Claim(
        "L5",
        f"bits are within {POINTS} of as many real numbers",
        "mAP, LLC less real-valued vectors of the same length",
        between("llc_retrieval", "LLC", "real-valued, learnt", "map"),
        "bits are trained to be those of the class",
        "real numbers tell how near an item is to other classes",
        -POINTS,
    ),
    *(
        Claim(
            "L5",
            f"{bits} bits rank above {numbers} real numbers",
            f"mAP, LLC of {bits} bits less {numbers} real numbers",
            shorter(bits, "LLC", numbers, "real-valued, learnt"),
            "as few numbers cannot hold as many classes",
            "a real number holds more than one bit does",
        )
        for bits, numbers in ((10, 8), (64, 48))
    ),
    *(
        Claim(
            "L6",
            f"{rule} is as good as a tuned threshold where unknown shares change",
            f"{key}, {rule} less the largest logit, tuned elsewhere",
            untuned(rule, key),
            "a rule that was not tuned cannot be tuned wrong",
            "the logits tell unknown items better than the codes",
            -NEARLY,
        )
        for rule in ("radius 0", "radius 1")
        for key in (BALANCED, F1)
    ),
    *(
        Claim(
            "not in the paper",
            f"no more unknown items are accepted than predicted from {source}",
            f"predicted less accepted share, rule for {ASKED:g}",
            as_predicted(f"{rule}, {ASKED:g}"),
            why,
            why_not,
        )
        for rule, source, why, why_not in (
            (
                "predicted",
                "code space alone",
                "unknown items are anywhere",
                "unknown items are like known ones, and get codes near theirs",
            ),
            (
                "hidden classes",
                "classes that play unknown ones",
                "unknown items are as far as classes nobody knows",
                "unknown items are nearer than the classes that play them",
            ),
            (
                CAREFUL,
                "the more careful of both",
                "unknown items are as far as the more careful model has them",
                "unknown items are nearer than both models have them",
            ),
        )
    ),
    Claim(
        "L6",
        "radius 1 fails where codes are hardly more than classes and their near",
        "balanced accuracy of radius 1, the next length less the shortest",
        spare_codes,
        "where all codes are near one of a class, nothing is unknown",
        "longer codes lose known items as well",
    ),
    Claim(
        "L7",
        "a linear classifier on scores is above the nearest code",
        "accuracy, linear SVM less nearest code",
        linear_on_scores,
        "a classifier may weigh bits, and see how sure they are",
        "the scores were made for the codes, and are few",
    ),
    Claim(
        "L7",
        "features trained for codes are linearly separable",
        "accuracy, linear SVM on them less nearest code",
        separable(("linear on its features",), ("trained for codes", "nearest")),
        "codes ask for classes that are apart",
        "features were bent to the codes of few bits",
    ),
    Claim(
        "L7",
        "a projection of an ordinary network cannot give the codes exactly",
        "accuracy, nearest code of a trained network less exact of the projection",
        separable(("trained for codes", "nearest"), ("projection", "exact")),
        "classes that a bit puts together need not be on one side of a plane",
        "the features separate any two groups of classes",
        MUCH_WORSE,
    ),
    Claim(
        "L7",
        "nor when both are decoded exactly",
        "exact accuracy, a trained network less the projection",
        separable(("trained for codes", "exact"), ("projection", "exact")),
        "classes that a bit puts together need not be on one side of a plane",
        "the features separate any two groups of classes",
        MUCH_WORSE,
    ),
    Claim(
        "L7",
        "training the last layer, too, gets most of it back",
        "exact accuracy the last layer adds, less half of what all layers add",
        regained,
        "a layer can put groups of classes on one side",
        "the layers before it have to do their part",
    ),
    *(
        Claim(
            "L8",
            f"a start from {start} loses at most {LITTLE}",
            f"accuracy of the nearest code, LLC from {start} less LLC",
            between("llc", f"LLC from {start}", "LLC", MHD),
            "it starts where the classes differ",
            "it stays where it starts",
            -LITTLE,
        )
        for start in ("SVD", "CCA")
    ),
    Claim(
        "L8",
        f"a cheap codebook loses at most {NOISE} (in the paper 2 %)",
        "accuracy of the nearest code, cheap less LLC",
        between("llc", "LLC, cheap codebook", "LLC", MHD),
        "few items tell which classes are alike",
        "few items make a codebook of chance",
        -NOISE,
    ),
    Claim(
        "L8",
        "prefixes of a nested codebook are as good as codebooks of their own",
        "accuracy of the nearest code, prefix less own",
        nested,
        "bits in front can be the same for all lengths",
        "a codebook for all lengths is a compromise",
        -NOISE,
    ),
    *(
        Claim(
            "not in the paper",
            f"a projection with a bias is as good, {what}",
            f"{measured}, LLC with a bias less LLC",
            between(experiment, "LLC with a bias", "LLC", key),
            "bits that most classes share are not left to chance",
            "it is one more number to learn for each bit",
            -LITTLE,
        )
        for what, measured, experiment, key in (
            ("nearest code", "accuracy", "llc", MHD),
            ("exact", "accuracy", "llc", "exact"),
            ("ranking", "mAP", "llc_retrieval", "map"),
        )
    ),
    *(
        Claim(
            "not in the paper",
            f"LLC ranks above {name}",
            f"mAP, LLC less {peer}",
            between("llc_retrieval", "LLC", peer, "map"),
            *reasons,
        )
        for name, peer, reasons in (
            (
                "the code of the predicted class",
                "predicted class",
                (
                    "near codes of near classes rank what a wrong guess loses",
                    "a guess of the class is what supervised codes can be at best",
                ),
            ),
            (
                "OrthoHash",
                "OrthoHash",
                ("its codes need not be those of a centre", "centres far apart do"),
            ),
            (
                "PCA, random rotation and signs",
                "PCA, random rotation",
                ("it knows no classes", "the features themselves rank well"),
            ),
            (
                "the features themselves",
                "features",
                ("they know no classes", "the codes are too short"),
            ),
        )
    ),
]
