// SPDX-License-Identifier: MIT OR Apache-2.0
// Says in one line what to do with a function.
import type { FrameDrops } from "../mechanism/frame-drops.js";
import { frames, jankLine, ms } from "../statistics/jank-line.js";

export { jankLine, ms };

/** The figures of both ways. `worker` is the reason if the function cannot run in a worker. */
export interface BothWays {
  direct: FrameDrops;
  worker: FrameDrops | { why: string };
}

/** Figures of this machine that were converted to another device's time. */
export interface Converted {
  here: FrameDrops;
  ratio: number;
}

/** Returns the longest lag: `37.2 ms there (12 ms here x 3.1)` if it is another device's. */
export function lagText(lagMaxMs: number, converted?: Converted): string {
  if (converted === undefined) return ms(lagMaxMs);
  return `${ms(lagMaxMs)} there (${ms(converted.here.lagMaxMs)} here x ${Number(converted.ratio.toPrecision(3))})`;
}

/** Returns the advice: run the function in a worker, leave it, or why a worker does not help. `where` is the device of the figures. */
export function adviceLine({ direct, worker }: BothWays, where: "here" | "there" = "here"): string {
  if (direct.dropped120 === 0)
    return `leave it: ${ms(direct.lagMaxMs)}, and no frame dropped at 60 or 120 Hz${where === "there" ? " there" : ""}.`;
  const hz = direct.dropped60 > 0 ? 60 : 120;
  const [here, there] =
    hz === 60 ? (["dropped60", direct.dropped60] as const) : (["dropped120", direct.dropped120] as const);
  const drops = `it drops ${frames(there)} at ${hz} Hz ${where}`;
  if ("why" in worker) return `${drops}, and it cannot run in a worker as it is: ${worker.why}.`;
  const left = worker[here];
  if (left >= there)
    return `a worker does not help: ${drops}, and ${frames(left)} if a worker runs it. Passing its arguments and result takes that long: pass less, or move buffers.`;
  const rest = left === 0 ? "and none" : `and ${frames(left)}`;
  return `run it in a worker: ${drops}, ${rest} if a worker runs it (${ms(worker.lagMaxMs)} instead of ${ms(direct.lagMaxMs)}).`;
}
