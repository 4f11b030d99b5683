// SPDX-License-Identifier: MIT OR Apache-2.0
import { clockStepMs, now } from "#meter-host";
import { clearTimeout, OwnPromise, setTimeout, type Timer } from "../globals.js";
import { check, listener, type Rules, wholeNumber } from "./options.js";
import { quantile } from "./summarize.js";

/** One round trip. The local clock gives the times of sending and return. The remote clock gives `remoteMs`, when the trip was handled. */
interface TimedTrip {
  readonly sentMs: number;
  readonly remoteMs: number;
  readonly backMs: number;
}

interface ClockOffset {
  /** The remote clock minus the local clock. */
  readonly offsetMs: number;
  readonly errorMs: number;
}

/**
 * Returns the offset of the remote clock from the local clock, and its error. Returns `undefined` without trips.
 *
 * A single trip shows only that the remote side handled it between sending and return. The offset therefore lies between `remote - back`
 * and `remote - sent`. The usual estimate is the midpoint. The error is half the width of this interval, which is half the round trip.
 *
 * The offset must agree with all trips, so it lies in the intersection of their intervals. The intersection is at most as wide as the
 * narrowest interval. The intersection is narrower if some trips were slow on the way there and others on the way back.
 *
 * A clock that steps may be late by up to `stepMs`, on both sides, so each interval is wider by one step at each end.
 *
 * An empty intersection means that the clocks drifted during the series. The offset then comes from the fastest trip alone.
 */
export function bestOffset(trips: readonly TimedTrip[], stepMs = 0): ClockOffset | undefined {
  if (trips.length === 0) return undefined;
  let low = Number.NEGATIVE_INFINITY;
  let high = Number.POSITIVE_INFINITY;
  let fastest = trips[0]!;
  for (const trip of trips) {
    low = Math.max(low, trip.remoteMs - trip.backMs);
    high = Math.min(high, trip.remoteMs - trip.sentMs);
    if (trip.backMs - trip.sentMs < fastest.backMs - fastest.sentMs) fastest = trip;
  }
  if (low > high + 2 * stepMs) {
    low = fastest.remoteMs - fastest.backMs;
    high = fastest.remoteMs - fastest.sentMs;
  }
  return { offsetMs: (low + high) / 2, errorMs: (high - low) / 2 + stepMs };
}

/**
 * The remote side's answer. The remote side reads `remoteTimeMs` from its clock once, while it handles the ping. The clock may have any
 * zero point.
 */
export interface PingAnswer {
  readonly remoteTimeMs?: number;
}

/** A pool, a channel, or any function that makes a round trip. */
export type PingTarget =
  | {
      /** Makes one round trip. */
      ping(): Promise<PingAnswer | undefined>;
    }
  | (() => Promise<unknown>);

/** Options of {@link ping}. */
export interface PingOptions {
  /** The number of pings, sent one after another. Default: 20. */
  readonly count?: number | undefined;
  /** The time between the starts of two pings. Default: 0, without a pause. A ping that takes longer delays the next ping. */
  readonly intervalMs?: number | undefined;
  /** Ends the series early. The report covers the pings that have returned. */
  readonly signal?: AbortSignal | undefined;
  /** Called with each sample. Must not throw. */
  readonly onSample?: ((sample: PingSample) => void) | undefined;
}

/** One round trip. */
export interface PingSample {
  /** The time since the first ping was sent. */
  readonly atMs: number;
  readonly roundTripMs: number;
  readonly remoteTimeMs?: number;
}

/** The round trips of one {@link ping}, with their distribution. Plain data. */
export interface PingReport {
  readonly kind: "clearway-ping";
  readonly version: 1;
  readonly samples: readonly PingSample[];
  readonly roundTripMs: {
    readonly n: number;
    readonly min: number;
    readonly mean: number;
    readonly max: number;
    /** Quantile. `null` if fewer than 20 samples lie beyond it. */
    readonly p50: number | null;
    readonly p90: number | null;
    readonly p99: number | null;
  };
  /** Present only if the remote side reports its time. */
  readonly oneWay?: OneWayReport;
}

/** Mean times of each direction, estimated from the remote clock. */
export interface OneWayReport {
  /** The remote clock minus the local clock. */
  readonly clockOffsetMs: number;
  /** The error of the offset and of each one-way time, plus or minus. Valid if neither clock drifts, and if the remote clock has no larger steps. */
  readonly errorMs: number;
  readonly thereMsMean: number;
  readonly backMsMean: number;
}

const pingRules: Rules = {
  count: wholeNumber(1),
  // With a longer time, hosts call back at once.
  intervalMs: ["0 to 2147483647", (value: number) => typeof value === "number" && value >= 0 && value <= 0x7fff_ffff],
  signal: ["an AbortSignal", (value: AbortSignal | null) => typeof value?.addEventListener === "function"],
  onSample: listener,
};

/**
 * Measures round trips to a target.
 *
 * If a ping fails, rejects with the target's own error. If the target never answers, the call waits until `signal` aborts.
 */
export async function ping(target: PingTarget, options: PingOptions = {}): Promise<PingReport> {
  check(options, pingRules);
  const { count = 20, intervalMs = 0, signal, onSample } = options;
  const send: () => Promise<unknown> = typeof target === "function" ? target : () => target.ping();
  const trips: { sentMs: number; backMs: number; remoteTimeMs?: number }[] = [];
  const aborted = whenAborted(signal);
  try {
    let dueMs = now();
    for (let index = 0; index < count && !signal?.aborted; index++) {
      if (dueMs > now()) await pause(dueMs - now(), aborted.promise);
      if (signal?.aborted) break;
      const sentMs = now();
      dueMs = sentMs + intervalMs;
      const answer = await OwnPromise.race([send(), aborted.promise]);
      const backMs = now();
      if (answer === abortedMark) break;
      const remoteTimeMs = remoteTimeOf(answer);
      const trip = { sentMs, backMs, ...(remoteTimeMs === undefined ? {} : { remoteTimeMs }) };
      trips.push(trip);
      onSample?.(sampleOf(trip, trips[0]!.sentMs));
    }
  } finally {
    aborted.dispose();
  }
  return reportOf(trips);
}

function remoteTimeOf(answer: unknown): number | undefined {
  if (typeof answer !== "object" || answer === null || !("remoteTimeMs" in answer)) return undefined;
  return Number.isFinite(answer.remoteTimeMs) ? (answer.remoteTimeMs as number) : undefined;
}

interface Trip {
  readonly sentMs: number;
  readonly backMs: number;
  readonly remoteTimeMs?: number;
}

function sampleOf(trip: Trip, firstMs: number): PingSample {
  const { remoteTimeMs } = trip;
  return {
    atMs: trip.sentMs - firstMs,
    roundTripMs: trip.backMs - trip.sentMs,
    ...(remoteTimeMs === undefined ? {} : { remoteTimeMs }),
  };
}

function reportOf(trips: readonly Trip[]): PingReport {
  const samples = trips.map((trip) => sampleOf(trip, trips[0]!.sentMs));
  const sorted = samples.map((sample) => sample.roundTripMs).sort((a, b) => a - b);
  const n = sorted.length;
  const timed = trips.flatMap((trip) =>
    trip.remoteTimeMs === undefined ? [] : [{ sentMs: trip.sentMs, remoteMs: trip.remoteTimeMs, backMs: trip.backMs }],
  );
  const offset: ClockOffset | undefined = bestOffset(timed, clockStepMs());
  return {
    kind: "clearway-ping",
    version: 1,
    samples,
    roundTripMs: {
      n,
      min: n === 0 ? 0 : sorted[0]!,
      mean: n === 0 ? 0 : sorted.reduce((sum, value) => sum + value, 0) / n,
      max: n === 0 ? 0 : sorted[n - 1]!,
      p50: quantile(sorted, 0.5),
      p90: quantile(sorted, 0.9),
      p99: quantile(sorted, 0.99),
    },
    ...(offset
      ? {
          oneWay: {
            clockOffsetMs: offset.offsetMs,
            errorMs: offset.errorMs,
            thereMsMean:
              timed.reduce((sum, trip) => sum + trip.remoteMs - offset.offsetMs - trip.sentMs, 0) / timed.length,
            backMsMean:
              timed.reduce((sum, trip) => sum + trip.backMs + offset.offsetMs - trip.remoteMs, 0) / timed.length,
          },
        }
      : {}),
  };
}

const abortedMark = Symbol("aborted");

function whenAborted(signal: AbortSignal | undefined): { promise: Promise<typeof abortedMark>; dispose(): void } {
  if (!signal) return { promise: new OwnPromise(() => {}), dispose: () => {} };
  let listener = (): void => {};
  const promise = new OwnPromise<typeof abortedMark>((resolve) => {
    listener = () => resolve(abortedMark);
    if (signal.aborted) listener();
    else signal.addEventListener("abort", listener, { once: true });
  });
  // If `signal` throws when it is read, this promise rejects, possibly before any code awaits it.
  promise.catch(() => {});
  const dispose = (): void => {
    try {
      signal.removeEventListener("abort", listener);
    } catch {
      // The report is complete, so a later abort event has no effect.
    }
  };
  return { promise, dispose };
}

/** Waits until the time is over or `ended` settles. Leaves no timer. */
async function pause(ms: number, ended: Promise<unknown>): Promise<void> {
  let timer: Timer | undefined;
  const over = new OwnPromise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  await OwnPromise.race([over, ended]).finally(() => clearTimeout(timer));
}
