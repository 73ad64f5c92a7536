"""A system in which everything dies at random, what is said to it meanwhile, and the count at the end."""
