"""One code for classes that were trained on and for classes that came later."""
