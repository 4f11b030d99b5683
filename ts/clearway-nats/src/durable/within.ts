// SPDX-License-Identifier: MIT OR Apache-2.0
import { timerMsMax, timers } from "../timer.js";

/** Waits for a step, at most a number of milliseconds. Never rejects: the servers may be away. The step itself goes on. */
export async function within(timeoutMs: number, step: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = timers.setTimeout(resolve, Math.min(timeoutMs, timerMsMax));
  });
  await Promise.race([
    step.then(
      () => {},
      () => {},
    ),
    late,
  ]);
  timers.clearTimeout(timer);
}
