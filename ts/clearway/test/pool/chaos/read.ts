// SPDX-License-Identifier: MIT OR Apache-2.0
import type { readings } from "./plan.js";

/** What a reader saw of a stream. */
export interface Seen {
  values: unknown[];
  /** The producer came to its end, with this value; undefined when the reader left before. */
  end: { value: unknown } | undefined;
  /** What the reader's own leaving threw, or the stream. */
  error: { reason: unknown } | undefined;
}

/** Reads a stream in one of the ways of a plan. Settles when the reader is done; never rejects. */
export async function read(
  stream: AsyncIterableIterator<unknown>,
  how: (typeof readings)[number],
  after: number,
): Promise<Seen> {
  const seen: Seen = { values: [], end: undefined, error: undefined };
  const most = how === "fully" || how === "slowly" || how === "overlap" ? Number.POSITIVE_INFINITY : after;
  const take = (step: IteratorResult<unknown>): boolean => {
    if (step.done) seen.end ??= { value: step.value };
    else seen.values.push(step.value);
    return step.done === true;
  };
  try {
    if (how === "never") return seen;
    if (how === "overlap") {
      // Several at once, and the end asked for before any is answered.
      const steps = [stream.next(), stream.next(), stream.next()];
      const last = stream.return?.("left");
      const settled = await Promise.allSettled([...steps, last]);
      for (const step of settled.slice(0, 3)) {
        if (step.status === "rejected") throw step.reason;
        if (!step.value?.done) take(step.value as IteratorResult<unknown>);
      }
      const end = settled[3]!;
      if (end.status === "rejected") throw end.reason;
      return seen;
    }
    while (how !== "return" && seen.values.length < most) {
      if (how === "slowly") await new Promise((resolve) => setTimeout(resolve));
      if (take(await stream.next())) return seen;
    }
    if (how === "break" || how === "return") await stream.return?.("left");
    if (how === "throw") await stream.throw?.(new ReaderError("the reader threw"));
  } catch (reason) {
    seen.error = { reason };
  }
  return seen;
}

/** What a reader throws into its stream. */
export class ReaderError extends Error {
  override readonly name = "ReaderError";
}
