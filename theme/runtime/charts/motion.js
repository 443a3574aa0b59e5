/**
 * Motion of a chart from one picture to the next: bars, curves and marks move, texts are the new ones at
 * once. A picture that follows another within the time of a move is drawn as it is, so that what a
 * reader drags is never behind the hand, and none moves for readers who want less motion.
 */

/** @typedef {import("./frame.js").Picture} Picture */

const DURATION = 180, FRAME = 16; // milliseconds
const SLOW_FRAME = 40; // milliseconds between two frames of a device that had better not draw more of them
const reducedMotion = matchMedia("(prefers-reduced-motion: reduce)");
/** When a pointer was lifted last: what is drawn then settles. */
let liftedAt = -Infinity;
for (const type of ["pointerup", "pointercancel"]) {
  document.addEventListener(type, () => (liftedAt = performance.now()), { capture: true, passive: true });
}

/** @param {(picture: Picture) => void} drawMoving draws what moves: boxes, curves, marks in front, rings */
export function createMotion(drawMoving) {
  let frame = 0, changedAt = -Infinity;
  /** What is drawn. @type {Picture | null} */
  let drawn = null;
  return {
    /**
     * The picture to draw now; the rest of the way to it follows frame by frame.
     * @param {Picture} picture @param {boolean} isSame whether only its colors or its size are others
     * @returns {Picture}
     */
    first(picture, isSame) {
      cancelAnimationFrame(frame);
      const begun = performance.now(), previous = drawn;
      const isSeries = begun - changedAt < DURATION && liftedAt < changedAt;
      changedAt = begun;
      drawn = picture;
      if (!previous || isSame || isSeries || reducedMotion.matches || document.hidden) return picture;
      const between = pictureBetween(previous, picture);
      if (!between) return picture;
      let last = begun;
      const next = (/** @type {number} */ time) => {
        const share = time - last > SLOW_FRAME ? 1 : (time - begun + FRAME) / DURATION;
        last = time;
        drawn = share < 1 ? between(eased(share)) : picture;
        drawMoving(drawn);
        if (share < 1) frame = requestAnimationFrame(next);
      };
      // The first of these frames is the one that the picture itself is painted in.
      frame = requestAnimationFrame(() => (frame = requestAnimationFrame(next)));
      return drawn = between(eased(FRAME / DURATION));
    },
  };
}

/** Fast at first, slow at the end. @param {number} share */
function eased(share) {
  return 1 - (1 - Math.min(Math.max(share, 0), 1)) ** 3;
}

/**
 * What lies between two pictures of one frame; null where there is nothing to move.
 * @param {Picture} from @param {Picture} to @returns {((share: number) => Picture) | null}
 */
function pictureBetween(from, to) {
  const isFramed = ["left", "right", "top", "height"].every((side) => from.frame[side] === to.frame[side]);
  if (!isFramed) return null;
  const parts = {
    boxes: matched(from.boxes, to.boxes, ({ label, color, y0, hatched }) => `${label} ${color} ${y0} ${hatched}`, boxBetween),
    curves: matched(from.curves, to.curves, ({ look, color }) => `${look} ${color}`, curveBetween),
    front: matched(from.front, to.front, ({ look, color, points }) => `${look} ${color} ${points.length}`, lineBetween),
    rings: matched(from.rings, to.rings, ({ color, small }) => `${color} ${small}`, ringBetween),
  };
  if (!Object.values(parts).some((marks) => marks.some(Boolean))) return null;
  return (share) => ({
    ...to,
    ...Object.fromEntries(Object.entries(parts).map(([group, betweens]) =>
      [group, to[group].map((mark, i) => betweens[i]?.(share) ?? mark)])),
  });
}

/** For every mark how it moves; of marks that read the same the first is matched with the first. */
function matched(from, to, keyOf, between) {
  const earlier = new Map();
  for (const mark of from) earlier.set(keyOf(mark), [...(earlier.get(keyOf(mark)) ?? []), mark]);
  return to.map((mark) => {
    const previous = earlier.get(keyOf(mark))?.shift();
    return previous && between(previous, mark);
  });
}

const mix = (/** @type {number} */ from, /** @type {number} */ to, /** @type {number} */ share) => from + (to - from) * share;

function boxBetween(from, to) {
  if (from.x0 === to.x0 && from.x1 === to.x1) return null;
  return (share) => ({ ...to, x0: mix(from.x0, to.x0, share), x1: mix(from.x1, to.x1, share) });
}

function lineBetween(from, to) {
  if (from.points.flat().join() === to.points.flat().join()) return null;
  return (share) => ({ ...to, points: to.points.map((point, i) => point.map((value, k) => mix(from.points[i][k], value, share))) });
}

function ringBetween(from, to) {
  if (from.x === to.x && from.y === to.y) return null;
  return (share) => ({ ...to, x: mix(from.x, to.x, share), y: mix(from.y, to.y, share) });
}

/** A curve moves up or down at every x of the new one; what turns back somewhere does not move. */
function curveBetween(from, to) {
  if (![from, to].every(({ points }) => points.every(([x], i) => !i || x >= points[i - 1][0]))) return null;
  const start = heightsAt(from.points, to.points.map(([x]) => x));
  if (to.points.every(([, y], i) => y === start[i])) return null;
  return (share) => ({ ...to, points: to.points.map(([x, y], i) => [x, mix(start[i], y, share)]) });
}

/** The heights of a curve at ascending x, beyond its ends those of the ends. */
function heightsAt(points, positions) {
  let k = 1;
  return positions.map((x) => {
    while (k < points.length - 1 && points[k][0] < x) k++;
    const [[x0, y0], [x1, y1]] = [points[k - 1], points[Math.min(k, points.length - 1)]];
    return x1 > x0 ? mix(y0, y1, Math.min(Math.max((x - x0) / (x1 - x0), 0), 1)) : y1;
  });
}
