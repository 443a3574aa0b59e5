/**
 * A player of frames: where it stands is one number, and what is drawn follows from it alone, so
 * that jumping to a frame and playing to it give the same picture.
 */

const INTERVAL = 1100;

/**
 * @param {number} opening the frame that is seen first; playing starts at the beginning
 * @param {{count: () => number, show: (frame: number) => void,
 *   onPlaying: (playing: boolean) => void}} parts
 */
export function createPlayer(opening, { count, show, onPlaying }) {
  let frame = opening;
  let touched = false;
  let speed = 1;
  let timer = 0;

  /** @param {number} wanted */
  function seek(wanted) {
    frame = Math.min(Math.max(wanted, 0), count() - 1);
    show(frame);
  }

  function stop() {
    if (!timer) return;
    clearInterval(timer);
    timer = 0;
    onPlaying(false);
  }

  function run() {
    clearInterval(timer);
    timer = setInterval(() => {
      seek(frame + 1);
      if (frame >= count() - 1) stop();
    }, INTERVAL / speed);
  }

  return {
    stop,
    /** @param {number} wanted */
    seek(wanted) {
      touched = true;
      stop();
      seek(wanted);
    },
    /** Shows where it stands in a new drawing; what plays goes on. */
    redraw() {
      seek(frame);
    },
    /** @param {number} by */
    step(by) {
      touched = true;
      stop();
      seek(frame + by);
    },
    toggle() {
      if (timer) {
        stop();
        return;
      }
      if (!touched || frame >= count() - 1) seek(0);
      touched = true;
      run();
      onPlaying(true);
    },
    /** @param {number} times */
    setSpeed(times) {
      speed = times;
      if (timer) run();
    },
    /** How long a shape takes from one frame to the next, milliseconds. */
    get pace() {
      return (INTERVAL * 0.6) / speed;
    },
    get frame() {
      return frame;
    },
  };
}
