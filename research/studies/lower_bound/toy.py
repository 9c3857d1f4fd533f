"""Figure 3: a surrogate estimates a joint distribution of 8 bits.

The surrogate of `PosteriorControl` learns to tell the value of each sample, as in
training. What is fed with the value that it shall tell learns a table, and the mean of
what it gives for 100 new samples, the paper's estimate, is no better than their
histogram. So the mean over all training samples is measured, too, and a network whose
input is constant. The histogram, half a sample added to each value, is the floor.
"""

from collections.abc import Iterator
from functools import partial
from itertools import product
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from fewbits.learners.deep._network import reproducible
from fewbits.learners.deep._posterior import ClassTargets, Surrogate
from research.core.record import Metrics, Settings
from research.core.runner import Task, task

N_BITS, N_NEW, N_STEPS, RATE, N_HIDDEN, DROPOUT = 8, 100, 1000, 1e-2, 256, 0.5
#: The paper's number of samples; others are measured with whole blocks only.
BLOCKS, SAMPLES, USUAL = (1, 2, 4, 8), (1000, 10_000, 100_000), 10_000
Shares = NDArray[np.float64]
#: The paper says "randomly 256 joint probabilities" only.
DRAWS: dict[str, Any] = {
    "softmax of normals": lambda rng: np.exp(rng.standard_normal(2**N_BITS)),
    "Dirichlet": lambda rng: rng.dirichlet(np.ones(2**N_BITS)),
    "normalised uniforms": lambda rng: rng.random(2**N_BITS),
}


def tasks(seeds: int = 5, n_steps: int = N_STEPS) -> Iterator[Task]:
    """Yield the estimates of every distribution."""
    whole = [(samples, N_BITS) for samples in SAMPLES]
    blocks = [(USUAL, block) for block in BLOCKS[:-1]]
    for data, seed, (samples, block) in product(DRAWS, range(seeds), whole + blocks):
        settings = {"data": data, "method": "surrogate", "seed": seed}
        made = {**settings, "samples": samples, "block": block}
        yield task("toy", made, partial(estimate, made, n_steps))


def estimate(settings: Settings, n_steps: int) -> Metrics:
    """Return the divergence, in nats, of each estimate from the distribution."""
    block, seed = settings["block"], settings["seed"]
    rng = np.random.default_rng(seed)
    real = DRAWS[settings["data"]](rng)
    real = real / real.sum()
    sizes = settings["samples"], N_NEW
    known, new = (rng.choice(len(real), n, p=real) for n in sizes)
    with reproducible(seed):
        network = _learned(_inputs(known, block, False), block, seed, n_steps)
    with reproducible(seed):
        blind = _learned(_inputs(known, block, True), block, seed, n_steps)
    estimates = {
        "histogram": joint(histograms(known, block)),
        "marginals": joint(histograms(known, 1)),
        "training samples": joint(_told(network, block, known)),
        "100 new samples": joint(_told(network, block, new)),
        "constant input": joint(_told(blind, block, None)),
    }
    return {
        name: float(np.sum(real * np.log(real / each)))
        for name, each in estimates.items()
    }


def _block_values(values: NDArray[np.int64], block: int) -> NDArray[np.int64]:
    """Return the values of the blocks of codes, (n_blocks, n), lowest bits first."""
    shifts = np.arange(0, N_BITS, block)
    found: NDArray[np.int64] = (values >> shifts[:, None]) & (2**block - 1)
    return found


def histograms(values: NDArray[np.int64], block: int) -> Shares:
    """Return the shares of each block's values, (n_blocks, 2**block)."""
    counts = [np.bincount(e, minlength=2**block) for e in _block_values(values, block)]
    found: Shares = (np.stack(counts) + 0.5) / (len(values) + 0.5 * 2**block)
    return found


def joint(blocks: Shares) -> Shares:
    """Return the probabilities of codes whose blocks are independent."""
    block = int(np.log2(blocks.shape[1]))
    rows = _block_values(np.arange(2**N_BITS), block)
    found: Shares = np.take_along_axis(blocks, rows, axis=1).prod(axis=0)
    return found


def _learned(seen: Any, block: int, seed: int, n_steps: int) -> Surrogate:
    """Return a surrogate that tells the values, from the bits or from nothing."""
    network = Surrogate(torch.full((N_BITS // block,), block), N_HIDDEN, DROPOUT)
    network.train().reset(torch.Generator().manual_seed(seed))
    optimizer = torch.optim.Adam(network.parameters(), lr=RATE)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, n_steps)
    inputs, wanted = seen
    for _ in range(n_steps):
        _, loss = network.losses(inputs, None, wanted)
        optimizer.zero_grad()
        torch.autograd.backward(loss)
        optimizer.step()
        schedule.step()
    return network.eval()


def _inputs(
    values: NDArray[np.int64], block: int, constant: bool
) -> tuple[torch.Tensor, ClassTargets]:
    """Return what a surrogate sees and shall tell, each different sample once."""
    seen, counts = np.unique(values, return_counts=True)
    shares = torch.from_numpy(counts / len(values)).float()
    wanted = torch.from_numpy(_block_values(seen, block))
    if constant:
        targets = ClassTargets(wanted[:, None], shares[None])
        return torch.zeros(len(wanted), 1, block), targets
    weights = len(seen) * shares[:, None]  # the loss is a mean over what is seen
    return _signs(seen, block), ClassTargets(wanted[..., None], weights)


def _signs(values: NDArray[np.int64], block: int) -> torch.Tensor:
    """Return the bits of codes as -1 and 1, (n_blocks, n, block)."""
    found = _block_values(values, block)[..., None] >> np.arange(block) & 1
    return torch.from_numpy(2.0 * found - 1).float()


def _told(network: Surrogate, block: int, values: NDArray[np.int64] | None) -> Shares:
    """Return the mean of what a surrogate gives, (n_blocks, 2**block)."""
    inputs, counts = torch.zeros(N_BITS // block, 1, block), np.ones(1, np.int64)
    if values is not None:
        seen, counts = np.unique(values, return_counts=True)
        inputs = _signs(seen, block)
    with torch.inference_mode():
        given = network(inputs).double().exp().numpy()
    found: Shares = np.average(given, axis=1, weights=counts)
    return found
