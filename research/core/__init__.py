"""What all studies share: records, runs, comparisons, claims, tables and plots."""
