"""Everything that reads the hot tier: recall, and the built-in engines `memory` and `pages`. Never a language model."""
