// SPDX-License-Identifier: MIT OR Apache-2.0
import { isBuffer } from "../host/tag.js";
import { isMap, isSet } from "../transfer/find-memory.js";
import { CallProfile, type Place, type Together } from "./call-profile.js";

// Calls of the first back-off. 64 runs in workers replace half of a task's statistics, and take a short time if it is called often.
const firstCalls = 64;
// Highest level: 2^16 calls. A task that still comes back then costs one stall in 65,536 calls.
const highest = 10;
// Time of inline runs within the budget, about a frame, that lowers the level by one. Pauses of the machine depend on time: one every 25
// ms, measured on two cores that six processes share. A task's own long runs depend on calls: a task of 1 us that is long once in 3,000
// calls is long every 3 ms.
const cleanUs = 16_000;
// Deepest level of a value that counts. The first element of a list stands for all.
const depthMax = 2;
// Most argument classes per task. With more, no class would have enough measurements.
const sitesMax = 64;

/**
 * Sends a task that exceeded the budget to workers for a number of calls, twice as many each time. A pure value. Counts calls and not time,
 * so that a task that is called rarely does not run inline at every call.
 */
export class InlineBackoff {
  #level = -1;
  #callsLeft = 0;
  #cleanUs = 0;
  /** Number of back-offs. */
  times = 0;

  get active(): boolean {
    return this.#callsLeft > 0;
  }

  /** Calls that the current back-off still lasts. */
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

  /** Adds the time of inline runs that were within the budget. */
  clean(us: number): void {
    if (this.#level < 0) return;
    this.#cleanUs += us;
    if (this.#cleanUs < cleanUs) return;
    this.#cleanUs = 0;
    this.#level--;
  }
}

/**
 * Returns the class of a call's arguments. Calls of one class are expected to cost about the same. The class combines two octaves: one of
 * the size (elements, characters, bytes), and one of the largest number among the arguments, because a count (`primes(1e6)`) determines the
 * cost. Reads a few values, copies and allocates nothing.
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

/** Returns 0 for values below 1, then one class per power of two, up to 63. NaN is 0, infinity is 63. */
function octave(value: number): number {
  if (!(value >= 1)) return 0;
  if (value < 2 ** 31) return 32 - Math.clz32(value);
  return Math.min(63, Math.floor(Math.log2(value)) + 1);
}

/** The measurements of one task, and the decision where its next call runs. A pure value. Times are passed in, in microseconds. */
export class Model {
  readonly backoff = new InlineBackoff();
  readonly profiles = new Map<number, CallProfile>();
  readonly #budgetUs: number;

  constructor(budgetUs: number) {
    this.#budgetUs = budgetUs;
  }

  /** Returns the profile of calls with arguments of this class. Undefined if there are too many classes. */
  profile(argumentClass: number): CallProfile | undefined {
    let profile = this.profiles.get(argumentClass);
    if (profile === undefined && this.profiles.size < sitesMax) {
      profile = new CallProfile(this.#budgetUs);
      this.profiles.set(argumentClass, profile);
    }
    return profile;
  }

  /** Decides where a call runs, with `leftUs` left of the turn. */
  place(profile: CallProfile | undefined, burst: number, burstId: number, workers: number, leftUs: number): Place {
    if (profile === undefined || this.backoff.active) {
      this.backoff.served();
      return "worker";
    }
    const place = profile.choose(burst, burstId, workers);
    return place === "worker" || profile.upperUs > leftUs ? "worker" : place;
  }

  /** Adds an inline run of `us`, of which the machine did not run this thread for `pausedUs`. */
  ranInline(profile: CallProfile, us: number, place: Place, pausedUs = 0): void {
    if (us > this.#budgetUs) {
      // The machine caused this stall, not the call.
      if (us - pausedUs <= this.#budgetUs) return;
      this.backoff.overrun();
      profile.overran();
      return;
    }
    this.backoff.clean(us);
    profile.ranInline(us, place);
  }

  /** Adds inline runs of these classes that were measured together, within the budget. */
  ranTogether(profiles: ReadonlyMap<number, CallProfile>, ran: Together): void {
    this.backoff.clean(ran.us);
    for (const profile of profiles.values()) profile.ranTogether(ran, profiles.size);
  }

  /** Inline runs of these classes, measured together, exceeded the budget. Any of them may have been the long one. */
  overranTogether(profiles: ReadonlyMap<number, CallProfile>, us: number, pausedUs = 0): void {
    if (us - pausedUs <= this.#budgetUs) return;
    this.backoff.overrun();
    for (const profile of profiles.values()) profile.overran();
  }
}
