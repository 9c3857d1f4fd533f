"""What all learners share: their contract, rows, checkpoints, devices."""
