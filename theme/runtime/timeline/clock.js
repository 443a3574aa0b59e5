/**
 * Clock of a timeline player: the time is the only state, so that playing, stepping and seeking to a
 * time give the same picture.
 */

const TIME_PER_EVENT = 350, MIN_DURATION = 6000, MAX_DURATION = 20_000; // milliseconds that a run plays for
const reducedMotion = matchMedia("(prefers-reduced-motion: reduce)");

/**
 * @param {{events: () => number[], show: (time: number) => void,
 *   onPlaying: (playing: boolean) => void}} parts  `events` in the order of time, both ends included
 */
export function createClock({ events, show, onPlaying }) {
  const ends = () => [events()[0], events()[events().length - 1]];
  let currentTime = ends()[1];
  let speed = 1;
  let stopPlaying = /** @type {(() => void) | null} */ (null);

  function setTime(time) {
    const [first, last] = ends();
    currentTime = Math.min(Math.max(time, first), last);
    show(currentTime);
  }

  function stop() {
    if (!stopPlaying) return;
    stopPlaying();
    stopPlaying = null;
    onPlaying(false);
  }

  function nextEvent(by) {
    const times = events();
    const tolerance = 1e-9 * (times[times.length - 1] - times[0]);
    const event = by > 0 ? times.find((time) => time > currentTime + tolerance)
      : times.filter((time) => time < currentTime - tolerance).pop();
    return event ?? currentTime;
  }

  function duration() {
    return Math.min(Math.max(TIME_PER_EVENT * events().length, MIN_DURATION), MAX_DURATION) / speed;
  }

  /** Moves evenly, or with reduced motion from event to event. */
  function startPlaying() {
    if (reducedMotion.matches) {
      const timer = setInterval(() => advance(nextEvent(1)), duration() / events().length);
      stopPlaying = () => clearInterval(timer);
      return;
    }
    let lastFrame = performance.now(), frame = 0;
    const onFrame = (/** @type {number} */ timestamp) => {
      frame = requestAnimationFrame(onFrame);
      const [first, last] = ends(), elapsed = Math.max(timestamp - lastFrame, 0);
      lastFrame = timestamp;
      advance(currentTime + (elapsed / duration()) * (last - first));
    };
    frame = requestAnimationFrame(onFrame);
    stopPlaying = () => cancelAnimationFrame(frame);
  }

  function advance(time) {
    setTime(time);
    if (currentTime >= ends()[1]) stop();
  }

  return {
    stop,
    /** @param {number} time goes to the event that is nearest */
    seek(time) {
      stop();
      const nearest = (best, event) => (Math.abs(event - time) < Math.abs(best - time) ? event : best);
      setTime(Number.isFinite(time) ? events().reduce(nearest) : time);
    },
    /** @param {number} by */
    step(by) {
      stop();
      // A run that was never played stands at its end: the next thing is its beginning.
      setTime(by > 0 && currentTime >= ends()[1] ? ends()[0] : nextEvent(by));
    },
    toggle() {
      if (stopPlaying) {
        stop();
        return;
      }
      if (currentTime >= ends()[1]) setTime(ends()[0]);
      startPlaying();
      onPlaying(true);
    },
    /** @param {number} times */
    setSpeed(times) {
      speed = times;
    },
    /** Updates after the events changed; a clock at the end stays at the end. */
    updateEvents(wasAtEnd) {
      setTime(wasAtEnd ? Infinity : currentTime);
    },
    get now() {
      return currentTime;
    },
    get atEnd() {
      return currentTime >= ends()[1];
    },
  };
}
