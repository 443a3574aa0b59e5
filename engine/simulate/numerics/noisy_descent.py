"""Gradient descent on a quadratic loss with seeded gradient noise.

The loss is 0.5 (a x² + b y²). The gradient of one sample is the true one plus normal noise in both
directions; a batch of B samples divides the variance by B. The learning rate of every step is the
best for its batch, as McCandlish et al. 2018 derive it (equation 2.6).
"""

import math
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice

from engine.core.units import Count, Ratio, Share
from engine.formulas.batch_noise import progress
from engine.simulate.numerics.rng import normals, uniforms

CURVES = (1.0, 4.0)
START = (-2.2, 0.9)
STEPS = 30


@dataclass(frozen=True, slots=True, kw_only=True)
class Descent:
    """Trajectory of a descent.

    Attributes:
        points: points after every step, the start first.
        losses: losses at the points.
    """

    points: tuple[tuple[float, float], ...]
    losses: tuple[float, ...]


def loss(x: float, y: float) -> float:
    """Return the loss at a point."""
    return 0.5 * (CURVES[0] * x * x + CURVES[1] * y * y)


def noise_scale_at(x: float, y: float, noise: Ratio) -> Ratio:
    """Return the noise scale tr(H Sigma) / (g H g) at a point, for a noise deviation per sample."""
    gradient = (CURVES[0] * x, CURVES[1] * y)
    curvature = sum(h * g * g for h, g in zip(CURVES, gradient, strict=True))
    return noise * noise * sum(CURVES) / curvature if curvature else math.inf


def best_rate(x: float, y: float, noise: Ratio, batch: Ratio) -> Ratio:
    """Return the learning rate that lowers the mean loss of the next step most."""
    gradient = (CURVES[0] * x, CURVES[1] * y)
    square = sum(g * g for g in gradient)
    curvature = sum(h * g * g for h, g in zip(CURVES, gradient, strict=True))
    noiseless_rate = square / curvature if curvature else 0.0
    return noiseless_rate * progress(batch, noise_scale_at(x, y, noise)) if curvature else 0.0


@lru_cache(maxsize=64)
def descend(batch: Ratio, noise: Ratio, seed: Count = 1) -> Descent:
    """Return the descent of 30 steps from the start, with `batch` samples per step."""
    noise_samples = normals(uniforms(seed))
    x, y = START
    points, losses = [(x, y)], [loss(x, y)]
    for _ in range(STEPS):
        rate = best_rate(x, y, noise, batch)
        deviation = noise / math.sqrt(batch)
        x -= rate * (CURVES[0] * x + deviation * next(noise_samples))
        y -= rate * (CURVES[1] * y + deviation * next(noise_samples))
        points.append((x, y))
        losses.append(loss(x, y))
    return Descent(points=tuple(points), losses=tuple(losses))


@lru_cache(maxsize=64)
def mean_progress(batch: Ratio, noise: Ratio, trials: Count = 4000) -> Share:
    """Return the mean gain of the first step, over the gain of a step without noise.

    Simulated, trial by trial; the formula gives 1/(1 + noise scale/batch).
    """
    noise_samples = normals(uniforms(11))
    x, y = START
    start = loss(x, y)
    gradient = (CURVES[0] * x, CURVES[1] * y)
    best = best_rate(x, y, 0.0, 1.0)
    noiseless_gain = start - loss(x - best * gradient[0], y - best * gradient[1])
    rate, deviation = best_rate(x, y, noise, batch), noise / math.sqrt(batch)
    total = 0.0
    for _ in range(trials):
        down = loss(
            x - rate * (gradient[0] + deviation * next(noise_samples)),
            y - rate * (gradient[1] + deviation * next(noise_samples)),
        )
        total += start - down
    return total / trials / noiseless_gain


DIMENSIONS = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class NoiseEstimate:
    """Noise scale estimated from the gradients of two batch sizes.

    Attributes:
        running: estimate after every measurement, from the means so far.
        square: estimated squared length of the gradient.
        noise: estimated noise of a sample.
    """

    running: tuple[Ratio, ...]
    square: Ratio
    noise: Ratio

    @property
    def scale(self) -> Ratio:
        """The estimated noise scale."""
        return self.running[-1]


@lru_cache(maxsize=64)
def estimate_noise_scale(
    noise_scale: Ratio, small: Count, big: Count, measurements: Count, seed: Count = 5
) -> NoiseEstimate:
    """Return the estimate from `measurements` pairs of gradients with 50 components.

    The true gradient has the length 1, so that the noise of a sample has the noise scale as its
    trace. Means of the squared lengths are taken before the formula, which is a ratio.
    """
    noise_samples = normals(uniforms(seed))
    deviation = math.sqrt(noise_scale / DIMENSIONS)
    true = 1 / math.sqrt(DIMENSIONS)
    sums = [0.0, 0.0]
    running = []
    square = noise = 0.0
    for count in range(1, measurements + 1):
        for at, batch in enumerate((small, big)):
            batch_deviation = deviation / math.sqrt(batch)
            sums[at] += sum(
                (true + batch_deviation * z) ** 2 for z in islice(noise_samples, DIMENSIONS)
            )
        means = sums[0] / count, sums[1] / count
        square = squared_gradient(*means, small, big)
        noise = gradient_noise(*means, small, big)
        # Before enough was measured the estimate of the square can be negative: no answer yet.
        running.append(noise / square if square > 0 and noise > 0 else 0.0)
    return NoiseEstimate(running=tuple(running), square=square, noise=noise)


def squared_gradient(small: Ratio, big: Ratio, batch: Count, big_batch: Count) -> Ratio:
    """Return the squared length of the true gradient from two noisy squared lengths.

    `small` and `big` are mean squared lengths at the two batches; without bias (appendix A.1).
    """
    return (big_batch * big - batch * small) / (big_batch - batch)


def gradient_noise(small: Ratio, big: Ratio, batch: Count, big_batch: Count) -> Ratio:
    """Return the noise of a single sample, the trace of its covariance, from two batches."""
    return (small - big) / (1 / batch - 1 / big_batch)
