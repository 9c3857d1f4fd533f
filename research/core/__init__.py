"""Parts of all studies: records, runs, comparisons, claims, tables and plots."""
