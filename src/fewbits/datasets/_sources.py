"""Addresses and checksums of the archives."""

from fewbits.datasets._download import Remote

_FASHION = "http://fashion-mnist.s3-website.eu-central-1.amazonaws.com"


def _fashion(name: str, size: int, digest: str) -> Remote:
    url, path = f"{_FASHION}/{name}", f"fashion-mnist/{name}"
    return Remote(url, path, f"sha256:{digest}", size)


FASHION_MNIST = [
    _fashion(
        "train-images-idx3-ubyte.gz",
        26421880,
        "3aede38d61863908ad78613f6a32ed271626dd12800ba2636569512369268a84",
    ),
    _fashion(
        "train-labels-idx1-ubyte.gz",
        29515,
        "a04f17134ac03560a47e3764e11b92fc97de4d1bfaf8ba1a3aa29af54cc90845",
    ),
    _fashion(
        "t10k-images-idx3-ubyte.gz",
        4422102,
        "346e55b948d973a97e58d2351dde16a484bd415d4595297633bb08f03db6a073",
    ),
    _fashion(
        "t10k-labels-idx1-ubyte.gz",
        5148,
        "67da17c76eaffca5446c3361aaab5c3cd6d1c2608764d35dfb1850b086bf8dd5",
    ),
]
CIFAR10 = [
    Remote(
        "https://www.cs.toronto.edu/~kriz/cifar-10-binary.tar.gz",
        "cifar-10-binary.tar.gz",
        "sha256:c4a38c50a1bc5f3a1c5537f2155ab9d68f9f25eb1ed8d9ddda3db29a59bca1dd",
        170052171,
    )
]
# The archive publishes MD5 only; against damage on the way that is enough.
CALTECH101 = [
    Remote(
        "https://data.caltech.edu/records/mzrjq-6wc02/files/caltech-101.zip",
        "caltech-101.zip",
        "md5:3138e1922a9193bfa496528edbbc45d0",
    )
]
WORDNET = [
    Remote(
        "https://wordnetcode.princeton.edu/3.0/WNdb-3.0.tar.gz",
        "WNdb-3.0.tar.gz",
        "sha256:658b1ba191f5f98c2e9bae3e25c186013158f30ef779f191d2a44e5d25046dc8",
    )
]
