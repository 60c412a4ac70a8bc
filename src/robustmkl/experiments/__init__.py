"""Section 4 of the paper as experiments that can be run again, and a judgement of each of its claims.

settings     what is run, and the seeds
trial        one split of one table with one draw of wrong labels
certified    every (lam, rho) of a trial at its proved optimum
loose        the same under the paper's stopping rule, Algorithm 1 on all (lam, rho) at once (batched)
convergence  the right panels of Figure 1, and Theorem 2
statements   Theorem 1, Lemma 1, Proposition 1, and (9) against (8), measured
work, store  parallel, one file a run, resumable
runs         what was collected; choosing by validation
judgement    from runs to verdicts (claims, laws, rules)
report       Markdown, HTML, pictures, CSV
"""

from .settings import Settings
from .table1 import check_table1

__all__ = ["Settings", "check_table1"]
