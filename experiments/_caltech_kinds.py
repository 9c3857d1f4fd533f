"""Kinds of things that classes of Caltech-101 belong to, given by hand.

Names of classes are words that no other class has: a bit that is named by them on some
classes cannot be checked on others. Kinds can.
"""

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


def kinds_of(name: str) -> list[str]:
    """Return the kinds of a class, the widest first; there may be none."""
    return [kind for kind, classes in KINDS.items() if name in classes.split()]
