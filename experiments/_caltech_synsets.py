"""The sense of WordNet that each class of Caltech-101 shows, given by hand.

Chosen by the pictures, not by the most common sense of the word: the beaver is the
rodent, the bass the fish, the crab the animal rather than its meat. Classes without a
sense of their own get the nearest wider one: Garfield and Snoopy are fictional
characters, a stop sign is a street sign, yin and yang a symbol. Parts share the sense
of the whole, but for faces.
"""

from collections.abc import Iterable

_SYNSETS = """
Faces face.n.01
Faces_easy face.n.01
Leopards leopard.n.02
Motorbikes motorcycle.n.01
accordion accordion.n.01
airplanes airplane.n.01
anchor anchor.n.01
ant ant.n.01
barrel barrel.n.02
bass bass.n.08
beaver beaver.n.07
binocular binoculars.n.01
bonsai bonsai.n.01
brain brain.n.01
brontosaurus apatosaur.n.01
buddha buddha.n.01
butterfly butterfly.n.01
camera camera.n.01
cannon cannon.n.01
car_side car.n.01
ceiling_fan electric_fan.n.01
cellphone cellular_telephone.n.01
chair chair.n.01
chandelier chandelier.n.01
cougar_body cougar.n.01
cougar_face cougar.n.01
crab crab.n.01
crayfish crayfish.n.03
crocodile crocodile.n.01
crocodile_head crocodile.n.01
cup cup.n.01
dalmatian dalmatian.n.02
dollar_bill dollar.n.02
dolphin dolphin.n.02
dragonfly dragonfly.n.01
electric_guitar electric_guitar.n.01
elephant elephant.n.01
emu emu.n.02
euphonium euphonium.n.01
ewer pitcher.n.02
ferry ferry.n.01
flamingo flamingo.n.01
flamingo_head flamingo.n.01
garfield fictional_character.n.01
gerenuk gerenuk.n.01
gramophone gramophone.n.01
grand_piano grand_piano.n.01
hawksbill hawksbill_turtle.n.01
headphone earphone.n.01
hedgehog hedgehog.n.02
helicopter helicopter.n.01
ibis ibis.n.01
inline_skate rollerblade.n.01
joshua_tree joshua_tree.n.01
kangaroo kangaroo.n.01
ketch ketch.n.01
lamp lamp.n.02
laptop laptop.n.01
llama llama.n.01
lobster lobster.n.02
lotus lotus.n.01
mandolin mandolin.n.01
mayfly mayfly.n.01
menorah menorah.n.02
metronome metronome.n.01
minaret minaret.n.01
nautilus chambered_nautilus.n.01
octopus octopus.n.02
okapi okapi.n.01
pagoda pagoda.n.01
panda giant_panda.n.01
pigeon pigeon.n.01
pizza pizza.n.01
platypus platypus.n.01
pyramid pyramid.n.03
revolver revolver.n.01
rhino rhinoceros.n.01
rooster cock.n.04
saxophone sax.n.02
schooner schooner.n.02
scissors scissors.n.01
scorpion scorpion.n.03
sea_horse seahorse.n.02
snoopy fictional_character.n.01
soccer_ball soccer_ball.n.01
stapler stapler.n.01
starfish starfish.n.01
stegosaurus stegosaur.n.01
stop_sign street_sign.n.01
strawberry strawberry.n.01
sunflower sunflower.n.01
tick tick.n.02
trilobite trilobite.n.01
umbrella umbrella.n.01
watch watch.n.01
water_lilly water_lily.n.01
wheelchair wheelchair.n.01
wild_cat wildcat.n.03
windsor_chair windsor_chair.n.01
wrench wrench.n.03
yin_yang symbol.n.01
"""

SYNSETS: dict[str, str] = dict(
    (line.split()[0], line.split()[1]) for line in _SYNSETS.strip().splitlines()
)


def synsets_of(classes: Iterable[str]) -> list[str]:
    """Return the sense of each class."""
    return [SYNSETS[name] for name in classes]
