"""The write decision: what a new memory does to those that are already there. Pure functions."""

from cortex_decision.decide import Decision, Neighbour, Statement, Verdict, decide
from cortex_decision.importance import importance

__all__ = ["Decision", "Neighbour", "Statement", "Verdict", "decide", "importance"]
