"""The background work: takes in memory events; consolidation, decay and the cold tier stand on what it has seen."""
