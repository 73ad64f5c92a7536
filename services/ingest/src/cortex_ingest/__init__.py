"""Everything that writes the hot tier: captures, pages, vault sync."""
