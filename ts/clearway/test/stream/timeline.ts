// SPDX-License-Identifier: MIT OR Apache-2.0

// Timelines as strings, one character per event:
//
//   a b c …  a value        |  the end        x  a failure        f  the iterator's `finally` ran
//   -        nothing (only to line timelines up)

/** Runs all pending promise callbacks. Uses no clock. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < 50; turn++) await Promise.resolve();
}

/** Records events as a string. */
export class Log {
  text = "";

  add(event: string): void {
    this.text += event;
  }
}

/** Returns an async generator that follows a timeline, and logs `f` when its `finally` runs. */
export async function* follow(timeline: string, log: Log): AsyncGenerator<string, string> {
  try {
    for (const event of timeline) {
      if (event === "|") return "end";
      if (event === "x") throw new Error("x");
      if (event !== "-") yield event;
    }
    return "end";
  } finally {
    log.add("f");
  }
}

/** Returns a synchronous generator that does the same. */
export function* followSync(timeline: string, log: Log): Generator<string, string> {
  try {
    for (const event of timeline) {
      if (event === "|") return "end";
      if (event === "x") throw new Error("x");
      yield event;
    }
    return "end";
  } finally {
    log.add("f");
  }
}
