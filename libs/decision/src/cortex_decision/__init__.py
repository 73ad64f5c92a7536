"""The write decision: what a new memory does to those that are already there. Pure functions."""

from cortex_decision.decide import Decision, Neighbour, Statement, Verdict, decide
from cortex_decision.importance import importance
from cortex_decision.veto import candidates, veto

__all__ = ["Decision", "Neighbour", "Statement", "Verdict", "candidates", "decide", "importance", "veto"]
