// SPDX-License-Identifier: MIT OR Apache-2.0
import { isBuffer } from "../host/tag.js";
import { isMap, isSet } from "../transfer/find.js";
import { CallProfile, type Place, type Together } from "./call-profile.js";

// 64 calls: as many as make a worker's own figures half new, and a short time for a task that is called often.
const firstCalls = 64;
// 2^16 calls at most: a task that goes wrong so seldom that it comes back costs one stall in 65,536 calls.
const highest = 10;
// One step back for so much time of clean inline runs, a frame's. Pauses of the machine come by time (every 25 ms of a
// busy one, measured on two cores that six processes share), a task's own long runs by calls: a task of 1 us that is long
// once in 3000 calls is so every 3 ms.
const cleanUs = 16_000;
// Of a list, the first element stands for the others; deeper than two levels nothing is looked at.
const depthMax = 2;
// A task whose arguments come in more kinds than this has no kind that is known well enough.
const sitesMax = 64;

/**
 * A task that held the caller's thread over the budget goes to the worker for a number of calls, twice as many every
 * time. A pure value; counts calls, not time, so that a task that is called seldom is not tried again at every call.
 */
export class InlineBackoff {
  #level = -1;
  #callsLeft = 0;
  #cleanUs = 0;
  /** How often it was backingOff. */
  times = 0;

  get active(): boolean {
    return this.#callsLeft > 0;
  }

  /** How many calls it will last. */
  get callsLeft(): number {
    return this.#callsLeft;
  }

  /** An inline run was over the budget. */
  overrun(): void {
    this.times++;
    this.#level = Math.min(this.#level + 1, highest);
    this.#callsLeft = firstCalls * 2 ** this.#level;
    this.#cleanUs = 0;
  }

  /** A call went to the worker. */
  served(): void {
    if (this.#callsLeft > 0) this.#callsLeft--;
  }

  /** Inline runs took so long, and none of them was over the budget. */
  clean(us: number): void {
    if (this.#level < 0) return;
    this.#cleanUs += us;
    if (this.#cleanUs < cleanUs) return;
    this.#cleanUs = 0;
    this.#level--;
  }
}

/**
 * The class of a call's arguments: calls of one class are expected to cost alike. It is made of two octaves: of how much
 * there is (elements, characters, bytes), and of the largest number that stands as an argument itself, because a count
 * (`primes(1e6)`) costs what it says. Looks at a few values; copies and allocates nothing.
 */
export function argumentClass(args: readonly unknown[]): number {
  let size = 0;
  let largest = 0;
  for (let at = 0; at < args.length; at++) {
    const value = args[at];
    if (typeof value === "number") {
      const magnitude = Math.abs(value);
      if (magnitude > largest) largest = magnitude;
    } else size += sizeOf(value, 0);
  }
  return octave(size) * 64 + octave(largest);
}

function sizeOf(value: unknown, depth: number): number {
  if (typeof value === "string") return value.length;
  if (value === null || typeof value !== "object") return typeof value === "bigint" ? octave(Number(value)) : 0;
  if (ArrayBuffer.isView(value)) return value.byteLength;
  const prototype = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== Array.prototype) {
    if (isBuffer(value)) return value.byteLength;
    if (isMap(value) || isSet(value)) return value.size * 2;
  }
  if (depth === depthMax) return 1;
  if (Array.isArray(value)) return value.length * (1 + sizeOf(value[0], depth + 1));
  let sum = 1;
  for (const key in value) sum += 1 + sizeOf((value as Record<string, unknown>)[key], depth + 1);
  return sum;
}

/** 0 for what is below 1, then one class for each power of two, up to 63. NaN is 0; infinity is 63. */
function octave(value: number): number {
  if (!(value >= 1)) return 0;
  if (value < 2 ** 31) return 32 - Math.clz32(value);
  return Math.min(63, Math.floor(Math.log2(value)) + 1);
}

/**
 * All that is known of one task, and the decision where its next call runs. A pure value: times in microseconds, and what
 * is under way on the pool, are passed in.
 */
export class Model {
  readonly backoff = new InlineBackoff();
  readonly profiles = new Map<number, CallProfile>();
  readonly #budgetUs: number;

  constructor(budgetUs: number) {
    this.#budgetUs = budgetUs;
  }

  /** What is known of calls with arguments of this class; undefined when there are too many classes. */
  profile(argumentClass: number): CallProfile | undefined {
    let profile = this.profiles.get(argumentClass);
    if (profile === undefined && this.profiles.size < sitesMax) {
      profile = new CallProfile(this.#budgetUs);
      this.profiles.set(argumentClass, profile);
    }
    return profile;
  }

  /** Where a call runs now, with `leftUs` left of the turn. */
  place(profile: CallProfile | undefined, burst: number, burstId: number, workers: number, leftUs: number): Place {
    if (profile === undefined || this.backoff.active) {
      this.backoff.served();
      return "worker";
    }
    const place = profile.choose(burst, burstId, workers);
    return place === "worker" || profile.upperUs > leftUs ? "worker" : place;
  }

  /** A call ran inline for so long. `pausedUs`: of that, how long the machine did not run this thread at all. */
  ranInline(profile: CallProfile, us: number, place: Place, pausedUs = 0): void {
    if (us > this.#budgetUs) {
      // The stall was the machine's, and would have been without the call.
      if (us - pausedUs <= this.#budgetUs) return;
      this.backoff.overrun();
      profile.overran();
      return;
    }
    this.backoff.clean(us);
    profile.ranInline(us, place);
  }

  /** Calls of these kinds ran inline and were measured together, no part of it over the budget. */
  ranTogether(profiles: ReadonlyMap<number, CallProfile>, ran: Together): void {
    this.backoff.clean(ran.us);
    for (const profile of profiles.values()) profile.ranTogether(ran, profiles.size);
  }

  /** Calls of these kinds ran inline one after the other, and together exceeded the budget. Each may have been the long one. */
  overranTogether(profiles: ReadonlyMap<number, CallProfile>, us: number, pausedUs = 0): void {
    if (us - pausedUs <= this.#budgetUs) return;
    this.backoff.overrun();
    for (const profile of profiles.values()) profile.overran();
  }
}
