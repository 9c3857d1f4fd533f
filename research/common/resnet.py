"""Residual networks for small images (He et al., CVPR 2016): no pooling at first."""

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn.functional import pad, relu

#: Of the pixels of CIFAR-10, from 0 to 1.
MEAN, STD = (0.491, 0.482, 0.447), (0.247, 0.243, 0.262)


class Augment(nn.Module):
    """Crop at random from an image with a margin, and mirror; only in training.

    Images are shifted by at most as many pixels as the margin.
    """

    def __init__(self, margin: int = 4) -> None:
        super().__init__()
        self.margin = margin

    def forward(self, X: Tensor) -> Tensor:
        if not self.training:
            return X
        n, _, height, width = X.shape
        padded = pad(X, [self.margin] * 4, mode="reflect")
        top, left = torch.randint(0, 2 * self.margin + 1, (2, n, 1), device=X.device)
        rows = top + torch.arange(height, device=X.device)
        columns = left + torch.arange(width, device=X.device)
        mirrored = torch.rand(n, 1, device=X.device) < 0.5
        columns = torch.where(mirrored, columns.flip(1), columns)
        items = torch.arange(n, device=X.device)[:, None, None]
        # Advanced indices around a slice: the channels come last.
        cropped = padded[items, :, rows[:, :, None], columns[:, None]]
        return cropped.permute(0, 3, 1, 2)


class Normalize(nn.Module):
    """Pixels less their mean, over their standard deviation."""

    mean: Tensor
    std: Tensor

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("mean", torch.tensor(MEAN)[:, None, None])
        self.register_buffer("std", torch.tensor(STD)[:, None, None])

    def forward(self, X: Tensor) -> Tensor:
        return (X - self.mean) / self.std


class Block(nn.Module):
    """Two convolutions beside a shortcut."""

    def __init__(self, n_in: int, n_out: int, stride: int) -> None:
        super().__init__()
        self.first = convolution(n_in, n_out, 3, stride)
        self.second = convolution(n_out, n_out, 3)
        same = stride == 1 and n_in == n_out
        self.shortcut = nn.Identity() if same else convolution(n_in, n_out, 1, stride)

    def forward(self, X: Tensor) -> Tensor:
        return relu(self.second(relu(self.first(X))) + self.shortcut(X))


def convolution(n_in: int, n_out: int, size: int, stride: int = 1) -> nn.Sequential:
    """Return a convolution with batch normalisation."""
    layer = nn.Conv2d(n_in, n_out, size, stride, padding=size // 2, bias=False)
    nn.init.kaiming_normal_(layer.weight, mode="fan_out", nonlinearity="relu")
    return nn.Sequential(layer, nn.BatchNorm2d(n_out))


def resnet(blocks: Sequence[int] = (2, 2, 2, 2), width: int = 64) -> nn.Sequential:
    """Return a backbone for pixels from 0 to 1; the defaults are ResNet-18.

    Every stage of `blocks` but the first halves the image and doubles the channels,
    `width` at first.
    """
    layers: list[nn.Module] = [convolution(3, width, 3), nn.ReLU()]
    n_in = width
    for stage, count in enumerate(blocks):
        n_out = width << stage
        for place in range(count):
            layers.append(Block(n_in, n_out, 2 if stage and not place else 1))
            n_in = n_out
    pool = [nn.AdaptiveAvgPool2d(1), nn.Flatten()]
    return nn.Sequential(Augment(), Normalize(), *layers, *pool)
