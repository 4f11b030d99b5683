// SPDX-License-Identifier: MIT OR Apache-2.0

// Timelines as strings, a character an event, so that a test shows what happens when:
//
//   a b c …  a value        |  the end        x  a failure        f  the iterator's `finally` ran
//   -        nothing (only to line timelines up)

/** Lets everything that is due in this turn happen. No clock is involved. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < 50; turn++) await Promise.resolve();
}

/** What happened, as a string. */
export class Log {
  text = "";

  add(event: string): void {
    this.text += event;
  }
}

/** An async generator that follows a timeline, and logs `f` when its `finally` runs. */
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

/** The same, synchronous. */
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
