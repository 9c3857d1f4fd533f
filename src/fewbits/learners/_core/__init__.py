"""The contract of all learners, rows, checkpoints and devices."""
