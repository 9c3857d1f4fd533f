"""A bundle that another machine serves, with the verbs of a local one."""
