"""The sentences of the report that no number decides."""

READING = """\
Differences of accuracy are judged in pairs: two methods on the same rows with the same wrong labels, over all trials
and tables, by Wilcoxon's signed rank test with Holm's correction within each question (level {level:g}). *Better*
**holds** if it is beyond chance, and **does not hold** if the 95 % interval of the mean difference stays below
{margin:g} percentage point, or the opposite is beyond chance. *The same* holds if the whole interval is within
{margin:g} point. What is neither, or rests on fewer than {fewest} pairs, **cannot be decided** by these runs."""

PROTOCOL = """\
* Tables: {tables}; whole tables scaled to [0, 1]; m = 10 (d + 1) Gaussian kernels, no intercept, as in the paper.
* 80 % of the rows to train, 20 % to test. Every label is flipped with probability q, q in {noise}. 10 % of the training
  rows, with noisy labels, choose λ and ρ; the classifier is the one trained on the other 90 %. Ties go to the largest
  λ, then to the largest ρ.
* **The paper leaves open** whether test labels are flipped: here they are {labels} (`--test-labels`). It does not print
  its grid of λ: the coarse grid here is {coarse}; the fine one has
  {fine} (`--lams`, `--coarse`). It does not say
  whether the classifier is trained again with the validation rows (here: no), at which noise level it compares gaps
  (here: q = {gap_noise}), nor how MiPMKL is optimised and stopped.
* ρ, as a share: {rhos} for StPMKL and MiPMKL; accuracy along ρ was measured at {more} as well.
* *Proved optima*: {certified_trials} trials, every (λ, ρ) solved to a relative duality gap of {tol}. MiPMKL is not
  convex: its f-steps are solved to 1e-3, from the SiPMKL of the same λ, in {best_case_trials} trials on the coarse
  grid.
* *The paper's stopping rule*: {trials} trials, Algorithm 1 until the gap is {gap} or for {max_iter} iterations, with
  Lemma 3 corrected (a factor 1/2). The f-steps of MiPMKL share {max_iter} more iterations in four rounds.
* Right panels: λ = {gap_lam}, Σα ≤ {gap_total}, gaps of the averages that both algorithms output.
* The trials of the paper's stopping rule are the first of those at the proved optimum: same rows, same wrong labels."""

ARGUMENT = """\
By Lagrangian duality, for α ≤ 1 (Theory, "The budget is a choice of λ"), the inner maximum of (11) is the minimum over
θ ≥ 0 of ρθ + (1/n) Σ max(0, 1 − θ − yᵢ f(xᵢ)). With f = (1 − θ) g, g minimises ordinary MKL with λ' = λ (1 − θ). So the
classifier of StPMKL(λ, ρ) has the signs of SiPMKL(λ'), with λ' the smaller of λ and a λ_c(ρ) at which the budget begins
to bind. **The grid over (λ, ρ) is a grid of λ**, finer than the one that SiPMKL was given, and finer towards *weaker*
regularisation only. Any advantage of StPMKL is an advantage of the values of λ that ρ adds: with the λ_c(ρ) in its grid
SiPMKL has the classifiers of StPMKL, and their accuracy. Three measurements follow: the classifiers and their twins;
SiPMKL with a fine grid that knows nothing of ρ; and the paper's stopping rule against the proved optimum, where the
argument does not apply because the optimum is not reached."""

LIMITS = """\
* Trials of one table share rows: splits are drawn anew, tables are not. The intervals speak of these five tables.
* The validation part has 17 to 55 rows. Much of the scatter between trials is the choice by so few noisy labels; it is
  the paper's protocol.
* What the paper measured at its own grid of λ, its own seeds and its own stopping of MiPMKL is not known.
* Label noise is drawn independently, as in the paper. Nothing here speaks of labels wrong in other ways but the
  simulations of Lemma 1 and Proposition 1.
* Theorem 1 cannot be contradicted by measurements where its bound exceeds 1; a counterexample for very many kernels is
  in the documentation."""

CAPTIONS = {
    "figure1": (
        "Figure 1. Comparison of accuracy (ACC) with varied noise levels (left; mean and standard error) and "
        "comparison of convergence speed (right; duality gap against iterations), under the paper's stopping rule."
    ),
    "figure1-certified": (
        "The left panels of Figure 1 at proved optima: with the coarse grid of λ (left) and the fine one (right; no "
        "MiPMKL). MiPMKL has fewer trials: see the protocol."
    ),
    "rules": (
        "Accuracy along ρ at the largest λ, where a binding budget alone decides (left; the star is the paper's "
        "ρ = 1 − q), and along λ without budget (right); means over tables and trials."
    ),
}
