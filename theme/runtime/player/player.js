/**
 * Player of frames: the frame number is the only state, so that jumping to a frame and playing to it
 * give the same picture.
 */

const FRAME_INTERVAL = 1100;

/**
 * @param {number} initialFrame the frame that is seen first; playing starts at the beginning
 * @param {{count: () => number, show: (frame: number) => void,
 *   onPlaying: (playing: boolean) => void}} parts
 */
export function createPlayer(initialFrame, { count, show, onPlaying }) {
  let frame = initialFrame;
  let wasUsed = false;
  let speed = 1;
  let timer = 0;

  /** @param {number} target */
  function seek(target) {
    frame = Math.min(Math.max(target, 0), count() - 1);
    show(frame);
  }

  function stop() {
    if (!timer) return;
    clearInterval(timer);
    timer = 0;
    onPlaying(false);
  }

  function startTimer() {
    clearInterval(timer);
    timer = setInterval(() => {
      seek(frame + 1);
      if (frame >= count() - 1) stop();
    }, FRAME_INTERVAL / speed);
  }

  return {
    stop,
    /** @param {number} target */
    seek(target) {
      wasUsed = true;
      stop();
      seek(target);
    },
    /** Shows where it stands in a new drawing; what plays goes on. */
    redraw() {
      seek(frame);
    },
    /** @param {number} by */
    step(by) {
      wasUsed = true;
      stop();
      seek(frame + by);
    },
    toggle() {
      if (timer) {
        stop();
        return;
      }
      if (!wasUsed || frame >= count() - 1) seek(0);
      wasUsed = true;
      startTimer();
      onPlaying(true);
    },
    /** @param {number} times */
    setSpeed(times) {
      speed = times;
      if (timer) startTimer();
    },
    /** How long a shape takes from one frame to the next, milliseconds. */
    get pace() {
      return (FRAME_INTERVAL * 0.6) / speed;
    },
    get frame() {
      return frame;
    },
  };
}
