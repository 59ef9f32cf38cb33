"""The papers' claims: data beside this file, a check function for each, and verdicts.

A claim's facts stand in a TOML file of its paper; its check is a pure function of the
results, registered under the claim's id in a module of that study's kind.
"""

from headway.claims.check import check, evaluate, lost
from headway.claims.facts import Claim, claims
from headway.claims.results import Results, load
from headway.claims.verdict import Finding, NotTestable, Outcome, Verdict

__all__ = [
    "Claim",
    "Finding",
    "NotTestable",
    "Outcome",
    "Results",
    "Verdict",
    "check",
    "claims",
    "evaluate",
    "load",
    "lost",
]
