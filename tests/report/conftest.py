"""Reading pages of HTML back."""

from html.parser import HTMLParser

import pytest


class Reader(HTMLParser):
    """Collect tags, attributes, texts; complain about what is not closed in order."""

    def __init__(self, source, void=("meta", "img")):
        super().__init__()
        self.tags, self.attributes, self.texts, self._open = [], [], [], []
        self._void = void
        self.feed(source)
        self.close()
        assert not self._open

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs
        if tag not in self._void:
            self._open.append(tag)

    def handle_endtag(self, tag):
        assert self._open.pop() == tag

    def handle_data(self, data):
        self.texts.append(data)


@pytest.fixture
def read_html():
    """Return what reads a page, given its source."""
    return Reader
