"""What only the explorer asks of a collection; costs are bounded by samples."""
