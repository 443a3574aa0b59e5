/** Simplification of curves (Douglas and Peucker 1973). */

const TOLERANCE = 0.15;

/**
 * The points without which the curve would move by more than the tolerance.
 * @param {number[][]} points
 */
export function simplifyCurve(points) {
  const keep = new Set([0, points.length - 1]), ranges = [[0, points.length - 1]];
  for (let range = ranges.pop(); range; range = ranges.pop()) {
    const [first, last] = range;
    let worst = first, farthest = TOLERANCE;
    for (let i = first + 1; i < last; i++) {
      const off = distanceToLine(points[i], points[first], points[last]);
      if (off > farthest) [worst, farthest] = [i, off];
    }
    if (worst === first) continue;
    keep.add(worst);
    ranges.push([first, worst], [worst, last]);
  }
  return points.filter((_, i) => keep.has(i));
}

/** Distance of a point from the line through two others. */
function distanceToLine([x, y], [x0, y0], [x1, y1]) {
  const [dx, dy] = [x1 - x0, y1 - y0], length = Math.hypot(dx, dy);
  return length ? Math.abs(dx * (y - y0) - (x - x0) * dy) / length : Math.hypot(x - x0, y - y0);
}
