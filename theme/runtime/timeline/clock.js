/**
 * The time of a run: one number, from which all that is drawn follows, so that playing, stepping
 * and seeking to a time give the same picture.
 */

const PER_EVENT = 350, SHORTEST = 6000, LONGEST = 20_000; // milliseconds that a run plays for
const calm = matchMedia("(prefers-reduced-motion: reduce)");

/**
 * @param {{events: () => number[], show: (time: number) => void,
 *   onPlaying: (playing: boolean) => void}} parts  `events` in the order of time, both ends included
 */
export function createClock({ events, show, onPlaying }) {
  const ends = () => [events()[0], events()[events().length - 1]];
  let now = ends()[1];
  let speed = 1;
  let stopPlaying = /** @type {(() => void) | null} */ (null);

  function go(time) {
    const [first, last] = ends();
    now = Math.min(Math.max(time, first), last);
    show(now);
  }

  function stop() {
    if (!stopPlaying) return;
    stopPlaying();
    stopPlaying = null;
    onPlaying(false);
  }

  function next(by) {
    const times = events();
    const near = 1e-9 * (times[times.length - 1] - times[0]);
    const found = by > 0 ? times.find((time) => time > now + near)
      : times.filter((time) => time < now - near).pop();
    return found ?? now;
  }

  function length() {
    return Math.min(Math.max(PER_EVENT * events().length, SHORTEST), LONGEST) / speed;
  }

  /** Moves evenly, or with reduced motion from event to event. */
  function run() {
    if (calm.matches) {
      const timer = setInterval(() => forward(next(1)), length() / events().length);
      stopPlaying = () => clearInterval(timer);
      return;
    }
    let before = performance.now(), frame = 0;
    const turn = (/** @type {number} */ at) => {
      frame = requestAnimationFrame(turn);
      const [first, last] = ends(), passed = Math.max(at - before, 0);
      before = at;
      forward(now + (passed / length()) * (last - first));
    };
    frame = requestAnimationFrame(turn);
    stopPlaying = () => cancelAnimationFrame(frame);
  }

  function forward(time) {
    go(time);
    if (now >= ends()[1]) stop();
  }

  return {
    stop,
    /** @param {number} time goes to the event that is nearest */
    seek(time) {
      stop();
      const nearest = (best, one) => (Math.abs(one - time) < Math.abs(best - time) ? one : best);
      go(Number.isFinite(time) ? events().reduce(nearest) : time);
    },
    /** @param {number} by */
    step(by) {
      stop();
      // A run that was never played stands at its end: the next thing is its beginning.
      go(by > 0 && now >= ends()[1] ? ends()[0] : next(by));
    },
    toggle() {
      if (stopPlaying) {
        stop();
        return;
      }
      if (now >= ends()[1]) go(ends()[0]);
      run();
      onPlaying(true);
    },
    /** @param {number} times */
    setSpeed(times) {
      speed = times;
    },
    /** Other events: what stood at the end stays there. */
    renew(wasAtEnd) {
      go(wasAtEnd ? Infinity : now);
    },
    get now() {
      return now;
    },
    get atEnd() {
      return now >= ends()[1];
    },
  };
}
