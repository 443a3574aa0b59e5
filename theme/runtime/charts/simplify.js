/** Fewer points for the same curve (Douglas and Peucker 1973). */

const TOLERANCE = 0.15;

/**
 * The points without which the curve would move by more than the tolerance.
 * @param {number[][]} points
 */
export function simplified(points) {
  const keep = new Set([0, points.length - 1]), parts = [[0, points.length - 1]];
  for (let part = parts.pop(); part; part = parts.pop()) {
    const [first, last] = part;
    let worst = first, far = TOLERANCE;
    for (let i = first + 1; i < last; i++) {
      const off = distance(points[i], points[first], points[last]);
      if (off > far) [worst, far] = [i, off];
    }
    if (worst === first) continue;
    keep.add(worst);
    parts.push([first, worst], [worst, last]);
  }
  return points.filter((_, i) => keep.has(i));
}

/** Of a point from the straight line through two others. */
function distance([x, y], [x0, y0], [x1, y1]) {
  const [dx, dy] = [x1 - x0, y1 - y0], length = Math.hypot(dx, dy);
  return length ? Math.abs(dx * (y - y0) - (x - x0) * dy) / length : Math.hypot(x - x0, y - y0);
}
