"""Many small problems of one shape at once, so that a bound is tried on 1,000 runs in a second.

Plain NumPy and nothing of `pegasos_lib`; the tests hold some of the problems to the library.
"""

import numpy as np


class Problems:
    """Hold `runs` problems by their signed rows y_i x_i; W (runs, d) is a point for each of them.

    Attributes
    ----------
    Z : ndarray, shape (runs, n, d)
        Of many scales; some rows are zero.
    lam, R : ndarray, shape (runs,)
    """

    def __init__(self, rng, runs, n, d, *, lam=(-3, 0.5), scale=1.0):
        self.Z = rng.normal(size=(runs, n, d)) * 10 ** rng.uniform(-scale, scale, (runs, 1, 1))
        self.Z[:, 1:][rng.random((runs, n - 1)) < 0.1] = 0
        self.lam = 10 ** rng.uniform(*lam, size=runs)
        self.R = np.linalg.norm(self.Z, axis=2).max(axis=1)
        self.radius = self.lam**-0.5

    def __len__(self):
        return len(self.Z)

    def constant(self, project):
        return (np.sqrt(self.lam) + self.R) ** 2 if project else 4 * self.R**2

    def objective(self, W):
        """Return P of each problem at W (..., runs, d)."""
        losses = np.maximum(0, 1 - np.einsum("rnd,...rd->...rn", self.Z, W)).mean(axis=-1)
        return self.lam / 2 * (W**2).sum(axis=-1) + losses

    def batches(self, draws):
        """Return the rows of the batches (runs, ..., k)."""
        rows = np.arange(len(self)).reshape(-1, *[1] * (np.ndim(draws) - 1))
        return self.Z[rows, draws]

    def into_the_ball(self, W):
        length = np.linalg.norm(W, axis=-1, keepdims=True)
        radius = self.radius.reshape(-1, *[1] * (W.ndim - 1))
        return W * np.minimum(1, radius / np.maximum(length, 1e-300))

    def pegasos(self, draws, project):
        """Return w_1..w_{T+1} (T + 1, runs, d) and g_1..g_T for the draws (runs, T, k)."""
        W, G = [np.zeros(self.Z[:, 0].shape)], []
        for t in range(1, draws.shape[1] + 1):
            Z, w = self.batches(draws[:, t - 1]), W[-1]
            hit = np.einsum("rkd,rd->rk", Z, w) < 1
            G.append(self.lam[:, None] * w - (hit[..., None] * Z).mean(axis=1))
            w = w - G[-1] / (self.lam[:, None] * t)
            W.append(self.into_the_ball(w) if project else w)
        return np.array(W), np.array(G)

    def paid(self, W, draws):
        """Return f_t at W (T, runs, d), or at one W (runs, d) for all t; shape (T, runs)."""
        Z = self.batches(draws).swapaxes(0, 1)  # (T, runs, k, d)
        W = np.broadcast_to(W, (len(Z), *W.shape[-2:]))
        losses = np.maximum(0, 1 - np.einsum("trkd,trd->trk", Z, W)).mean(axis=2)
        return self.lam / 2 * (W**2).sum(axis=2) + losses

    def all_pegasos(self, batches, T, project):
        """Yield (t, averages of w_1..w_t, w_{t+1}) over all runs, each batch being as likely.

        `batches` (m, k) lists the batches that may be drawn; both arrays are (runs, m^t, d).
        """
        w = np.zeros((len(self), 1, self.Z.shape[2]))
        total = np.zeros_like(w)
        lam = self.lam[:, None, None, None]
        for t in range(1, T + 1):
            hit = np.einsum("rnd,rwd->rwn", self.Z, w) < 1
            pushes = (hit[..., None] * self.Z[:, None])[:, :, batches].mean(axis=3)
            total = np.repeat(total + w, len(batches), axis=1)
            w = (1 - 1 / t) * w[:, :, None] + pushes / (lam * t)
            w = w.reshape(len(self), -1, w.shape[-1])
            w = self.into_the_ball(w) if project else w
            yield t, total / t, w
