// SPDX-License-Identifier: MIT OR Apache-2.0
// Shows the progress of a run on stderr. A terminal gets a bar with the remaining time; other outputs get a line every 15 s.
import cliProgress from "cli-progress";
import { visible } from "../../../../scripts/terminal-text.mjs";
import { duration } from "../report/number.js";
import type { Step } from "../run/execute.js";
import { print } from "./print.js";

export interface Progress {
  step(step: Step): void;
  stop(): void;
}

/** Minimum time between two lines, in milliseconds. Otherwise a log would have a line for each of 300 measurements. */
const LINE_EVERY_MS = 15_000;

export function openProgress(stream: NodeJS.WriteStream, nowMs: () => number = () => performance.now()): Progress {
  return stream.isTTY ? bar(stream) : lines(stream, nowMs);
}

function bar(stream: NodeJS.WriteStream): Progress {
  const format = "{bar} {value}/{total}  {left} left  {name}";
  const single = new cliProgress.SingleBar(
    { stream, format, barsize: 24, clearOnComplete: true, hideCursor: true, gracefulExit: false, fps: 8 },
    cliProgress.Presets.shades_classic,
  );
  let started = false;
  return {
    step: ({ done, planned, leftMs, name }) => {
      const payload = { left: duration(leftMs), name: visible(name.slice(0, 44)) };
      if (started) single.update(done, payload);
      else single.start(planned, done, payload);
      started = true;
    },
    stop: () => single.stop(),
  };
}

function lines(stream: NodeJS.WriteStream, nowMs: () => number): Progress {
  let next = 0;
  return {
    step: ({ done, planned, leftMs, name }) => {
      if (nowMs() < next || name === "") return;
      next = nowMs() + LINE_EVERY_MS;
      print(`${done}/${planned} measured, ${duration(leftMs)} left, now ${name}\n`, stream);
    },
    stop: () => {},
  };
}
