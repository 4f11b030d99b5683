// SPDX-License-Identifier: MIT OR Apache-2.0
// The sender. In an open loop, every event has an intended time that is fixed before the run, and a late event does not shift the others.
// In a closed loop, as published, the sender stamps an event, hands it over, and sleeps until the next.
import { nowMs, turn } from "#lab-host";

export interface Load {
  count: number;
  /** Events per second. 0 is the firehose: all events without pauses. */
  perSecond: number;
  payloadBytes: number;
  /**
   * `open`: events at intended times (default). `closed`: the sender stamps each event when it hands it over, and sleeps 1 / `perSecond`
   * afterwards; with `perSecond` 0 it does not sleep, so that the delays show a growing queue.
   */
  loop?: "open" | "closed";
}

export interface PushEvent {
  i: number;
  /**
   * The intended send time, in ms of the shared clock. For the firehose, the time at which the sending started. In a closed loop, the time
   * at which the event was handed over.
   */
  t: number;
  body?: Uint8Array;
}

// How long before an event's time the sender stops sleeping, in milliseconds. A timer may be late: Node rounds to whole milliseconds, and
// Chromium clamps nested timers to 4 ms. From this moment on, the sender polls the clock once in every turn of the event loop.
const POLL_BEFORE_MS = 2;

/** Waits until `time`. If `time` has passed, returns without yielding to the event loop. */
export async function waitUntil(time: number): Promise<void> {
  const left = time - nowMs();
  if (left > POLL_BEFORE_MS + 1) await new Promise((done) => setTimeout(done, left - POLL_BEFORE_MS));
  while (nowMs() < time) await turn();
}

/** Returns a function with each event's intended time. The first time is 5 ms from now, so that the first event is not late. */
function intendedTimes(load: Load): (i: number) => number {
  const start = nowMs() + 5;
  return load.perSecond === 0 ? () => start : (i) => start + (i * 1000) / load.perSecond;
}

/** Returns the body of an event, or undefined for the smallest payload, which is the 8-byte time itself. */
export function bodyOf(load: Load): Uint8Array | undefined {
  return load.payloadBytes <= 8 ? undefined : new Uint8Array(load.payloadBytes).fill(7);
}

/**
 * Calls `send` for every event, on time or as soon afterwards as the thread allows. For the firehose, counts the events in `sent`; the
 * receiver calculates the backlog from it.
 */
export async function emit(load: Load, sent: Int32Array, send: (event: PushEvent) => void): Promise<void> {
  const timeOf = intendedTimes(load);
  const body = bodyOf(load);
  if (load.loop === "closed") {
    for (let i = 0; i < load.count; i++) {
      if (load.perSecond === 0) Atomics.add(sent, 0, 1);
      const t = nowMs();
      send(body === undefined ? { i, t } : { i, t, body });
      if (load.perSecond > 0) await sleep(1000 / load.perSecond);
    }
    return;
  }
  if (load.perSecond === 0) {
    const t = nowMs();
    for (let i = 0; i < load.count; i++) {
      Atomics.add(sent, 0, 1);
      send(body === undefined ? { i, t } : { i, t, body });
    }
    return;
  }
  for (let i = 0; i < load.count; i++) {
    const t = timeOf(i);
    await waitUntil(t);
    send(body === undefined ? { i, t } : { i, t, body });
  }
}

/** Yields the same events, for mechanisms that pull. Each event has a new body, which can be transferred. */
export async function* produce(load: Load, sent: Int32Array): AsyncGenerator<PushEvent> {
  const timeOf = intendedTimes(load);
  const start = nowMs();
  const isClosed = load.loop === "closed";
  for (let i = 0; i < load.count; i++) {
    if (load.perSecond === 0) Atomics.add(sent, 0, 1);
    else if (isClosed) await (i === 0 ? undefined : sleep(1000 / load.perSecond));
    else await waitUntil(timeOf(i));
    const t = isClosed ? nowMs() : load.perSecond === 0 ? start : timeOf(i);
    const body = bodyOf(load);
    yield body === undefined ? { i, t } : { i, t, body };
  }
}

function sleep(ms: number): Promise<void> {
  return new Promise((done) => setTimeout(done, ms));
}
