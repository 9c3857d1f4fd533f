"""Can a surrogate estimate a joint distribution of bits? The toy of LBHash, figure 3.

    python -m experiments.bernoulli_toy

256 probabilities of 8 bits are drawn, and samples from them. The surrogate network of
`PosteriorControl` learns to tell the value of each sample, as in training. The paper
says that it "is fed with another 100 samples" and that the mean of what it gives is the
estimate; a network that is fed with the very value it shall tell learns a table, whose
mean over 100 samples is no better than their histogram. So three protocols are
measured: the mean over 100 new samples, over all training samples, and a network whose
input is constant, which cannot be a table. Beside them stands the histogram of the same
samples, half a sample added to each value: no estimate can be expected to be better.
All samples are in each step of training. Blocks of fewer bits
are estimated by themselves and multiplied; of 1 bit, that is the product of marginals.
"""

from functools import partial
from typing import Any

import numpy as np
import torch
import typer
from numpy.typing import NDArray

from experiments._cells import Cell, Cells
from experiments._options import Data, Seeds
from fewbits.learners.deep._surrogate import ClassTargets, Surrogate
from fewbits.learners.deep._torch import reproducible

N_BITS, N_NEW = 8, 100
BLOCKS, SAMPLES = (1, 2, 4, 8), (1000, 10_000, 100_000)
#: As in the paper; others are measured with whole blocks only.
USUAL = 10_000
N_STEPS, RATE, N_HIDDEN, DROPOUT = 1000, 1e-2, 256, 0.5
PICTURED_SEED = 0

Probabilities = NDArray[np.float64]


def softmax_of_normals(rng: np.random.Generator) -> Probabilities:
    """Return probabilities whose logarithms are normal."""
    found = np.exp(rng.standard_normal(2**N_BITS))
    return found / found.sum()


def normalised_uniforms(rng: np.random.Generator) -> Probabilities:
    """Return uniform numbers, divided by their sum."""
    found = rng.random(2**N_BITS)
    return found / found.sum()


def dirichlet(rng: np.random.Generator) -> Probabilities:
    """Return a point of the simplex, all as likely."""
    return rng.dirichlet(np.ones(2**N_BITS))


#: The paper says "randomly 256 joint probabilities" only.
DRAWS = {
    "softmax of normals": softmax_of_normals,
    "Dirichlet": dirichlet,
    "normalised uniforms": normalised_uniforms,
}


def main(data: Data = list(DRAWS), seeds: Seeds = 5) -> None:  # noqa: B006
    """Measure every cell that is not measured yet."""
    cells = Cells("bernoulli_toy")
    for name in data:
        for seed in range(seeds):
            for samples in SAMPLES:
                for block in BLOCKS if samples == USUAL else (N_BITS,):
                    cell = {"data": name, "method": "surrogate", "samples": samples}
                    cell |= {"block": block, "seed": seed}
                    cells.measure(cell, partial(figures, **cell))


def figures(data: str, method: str, samples: int, block: int, seed: int) -> Cell:
    """Estimate a distribution in every way; divergences are in nats."""
    rng = np.random.default_rng(seed)
    real = DRAWS[data](rng)
    known, new = (rng.choice(len(real), n, p=real) for n in (samples, N_NEW))
    network = learnt(known, block, seed, constant=False)
    blind = learnt(known, block, seed, constant=True)
    estimates = {
        "histogram": joint(histograms(known, block)),
        "marginals": joint(histograms(known, 1)),
        "training samples": joint(told(network, block, known)),
        "100 new samples": joint(told(network, block, new)),
        "constant input": joint(told(blind, block, None)),
    }
    found: Cell = {name: divergence(real, each) for name, each in estimates.items()}
    if (seed, samples, block) == (PICTURED_SEED, USUAL, N_BITS):
        shown = {"real": real, **estimates}
        found["shown"] = {name: each.round(6).tolist() for name, each in shown.items()}
    return found


def block_values(values: NDArray[np.int64], block: int) -> NDArray[np.int64]:
    """Return the values of the blocks of codes, (n_blocks, n), lowest bits first."""
    shifts = np.arange(0, N_BITS, block)
    found: NDArray[np.int64] = (values >> shifts[:, None]) & (2**block - 1)
    return found


def histograms(values: NDArray[np.int64], block: int) -> Probabilities:
    """Return the shares of each block's values, (n_blocks, 2**block)."""
    counts = np.stack(
        [np.bincount(each, minlength=2**block) for each in block_values(values, block)]
    )
    found: Probabilities = (counts + 0.5) / (len(values) + 0.5 * 2**block)
    return found


def joint(blocks: Probabilities) -> Probabilities:
    """Return the probabilities of codes whose blocks are independent."""
    block = int(np.log2(blocks.shape[1]))
    rows = block_values(np.arange(2**N_BITS), block)
    found: Probabilities = np.take_along_axis(blocks, rows, axis=1).prod(axis=0)
    return found


def divergence(real: Probabilities, estimate: Probabilities) -> float:
    """Return the Kullback-Leibler divergence of an estimate from what is real."""
    return float(np.sum(real * np.log(real / estimate)))


def learnt(
    values: NDArray[np.int64], block: int, seed: int, *, constant: bool
) -> Surrogate:
    """Return a surrogate that tells the values, from the bits or from nothing."""
    with reproducible(seed):
        network = Surrogate(
            torch.full((N_BITS // block,), block), N_HIDDEN, DROPOUT
        ).train()
        network.reset(torch.Generator().manual_seed(seed))
        optimizer = torch.optim.Adam(network.parameters(), lr=RATE)
        schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, N_STEPS)
        inputs, wanted = task(values, block, constant)
        for _ in range(N_STEPS):
            _, loss = network.losses(inputs, None, wanted, True)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
    return network.eval()


def task(
    values: NDArray[np.int64], block: int, constant: bool
) -> tuple[torch.Tensor, ClassTargets]:
    """Return what a surrogate sees and shall tell, each different sample once."""
    seen, counts = np.unique(values, return_counts=True)
    shares = torch.from_numpy(counts / len(values)).float()
    wanted = torch.from_numpy(block_values(seen, block))
    if constant:
        return torch.zeros(len(wanted), 1, block), ClassTargets(
            wanted[:, None], shares[None]
        )
    weights = len(seen) * shares[:, None]  # the loss is a mean over what is seen
    return scores(seen, block), ClassTargets(wanted[..., None], weights)


def scores(values: NDArray[np.int64], block: int) -> torch.Tensor:
    """Return the bits of codes as -1 and 1, (n_blocks, n, block)."""
    found = block_values(values, block)[..., None] >> np.arange(block) & 1
    return torch.from_numpy(2.0 * found - 1).float()


def told(
    network: Surrogate, block: int, values: NDArray[np.int64] | None
) -> Probabilities:
    """Return the mean of what a surrogate gives, (n_blocks, 2**block)."""
    if values is None:
        inputs = torch.zeros(N_BITS // block, 1, block)
        counts: Any = np.ones(1)
    else:
        seen, counts = np.unique(values, return_counts=True)
        inputs = scores(seen, block)
    with torch.inference_mode():
        given = network(inputs).double().exp().numpy()
    found: Probabilities = np.average(given, axis=1, weights=counts)
    return found


if __name__ == "__main__":
    typer.run(main)
