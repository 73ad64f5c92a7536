"""The write decision: what a new memory does to those that are already there. Pure functions."""

from cortex_decision.contexts import Claim, claims
from cortex_decision.decide import Decision, Neighbour, Statement, Verdict, decide
from cortex_decision.importance import importance
from cortex_decision.reconsolidation import Contradiction, can_change, can_end, contradiction, successions
from cortex_decision.veto import candidates, veto

__all__ = [
    "Claim",
    "Contradiction",
    "Decision",
    "Neighbour",
    "Statement",
    "Verdict",
    "can_change",
    "can_end",
    "candidates",
    "claims",
    "contradiction",
    "decide",
    "importance",
    "successions",
    "veto",
]
