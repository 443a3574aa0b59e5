/** Signs by which the beginning of a file shows what it is; what it means, the tool that reads it decides. */

const GZIP = "\x1f\x8b"; // profilers write traces so
/** How PyTorch writes a memory snapshot: a pickle, which nothing here reads. */
export const SNAPSHOT = "snapshot";
const PICKLE = /^\x80[\x02-\x05]/;

/** Folder of a tool, and what its files hold: the first that matches. @type {[string, RegExp][]} */
const SIGNS = [
  ["trace", /"traceEvents"/],
  ["calibrate", /"wallclock-calibration"/],
  ["nccl", /NCCL (INFO|version)|\b(algbw|busbw)\b|Collective test starting|# nThread/],
  ["counters", /Port (extended )?counters:|PortXmit(Data|Wait)|port_(xmit|rcv)_data|[rt]x_(bytes|prio\d|pause)|^link mlx5_|\/infiniband\/|RX_OK/m],
  ["sweep", /^PAR1|^[^\n]*[,\t]world_size[,\t]/],
  ["log", /elapsed[ _]time[ _]per[ _]iteration|tokens_per_sec|\btps: |SamplesPerSec|\biter time:|\bstep: +\d+ +loss:/],
];

/**
 * @param {string} start of a file, every byte a character
 * @returns {string} folder of the tool that reads it, or `SNAPSHOT`
 */
export function toolFor(start) {
  if (start.startsWith(GZIP)) return "trace";
  if (PICKLE.test(start)) return SNAPSHOT;
  return SIGNS.find(([, sign]) => sign.test(start))?.[0] ?? "import";
}
