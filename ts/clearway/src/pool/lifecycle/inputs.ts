// SPDX-License-Identifier: MIT OR Apache-2.0
import { part } from "../../lazy/part.js";
import { Op } from "../../transport/protocol.js";
import type { Input } from "../input.js";

/** Loads what draws from a stream that a caller feeds into a task, if nobody has. The task's reading waits for it. */
const loadFeed = /* @__PURE__ */ part(async () => import("../feed.js"));

/** The task reads. */
export async function grantInput(input: Input, items: number, bytes: number): Promise<void> {
  const { wire } = input;
  try {
    const feeding = input.feed ? undefined : await loadFeed();
    if (input.over || !wire) return;
    if (feeding) input.feed ??= new feeding.Feed(input.id, input.iterator, wire);
  } catch (reason) {
    wire?.failed(reason);
  }
  input.act(() => input.feed?.producer.grant(items, bytes));
}

/** The task reads no further. It does not wait for a source that is at work on its next value: that may never come. */
export function leaveInput(input: Input): void {
  input.stop();
  input.wire?.transport.send(Op.End, input.id);
}
