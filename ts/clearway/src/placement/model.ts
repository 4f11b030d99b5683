// SPDX-License-Identifier: MIT OR Apache-2.0
import { isBuffer } from "../host/tag.js";
import { type BatchRuns, CallProfile, type Place } from "./call-profile.js";

// Number of calls in the first back-off. 64 runs in workers replace half of a task's statistics. A task that is called often completes this
// back-off quickly.
const firstCalls = 64;
// Highest back-off level, which lasts 2^16 calls. A task that exceeds the budget after every back-off then causes one stall in 65,536
// calls.
const levelMax = 10;
// Time of inline runs within the budget that lowers the level by one, in microseconds: about a frame. The level falls with time, because
// pauses of the machine depend on time: there was one every 25 ms on two cores that six processes shared. A task's own long runs depend on
// the number of calls: a task of 1 us that is long once in 3,000 calls has a long run every 3 ms.
const cleanUs = 16_000;
// Maximum depth to which a value is read. The first element of a list stands for all elements.
const depthMax = 2;
// Maximum number of argument classes per task. With more classes, none would have enough measurements.
const argumentClassesMax = 64;

/**
 * Sends a task that exceeded the budget to workers for a number of calls. Doubles this number after each further overrun. Counts calls and
 * not time. Otherwise a task that is called rarely would run inline at every call. Reads no clock and starts no thread.
 */
export class InlineBackoff {
  #level = -1;
  #callsLeft = 0;
  #cleanUs = 0;
  /** Number of back-offs so far. */
  times = 0;

  get active(): boolean {
    return this.#callsLeft > 0;
  }

  /** Number of calls that the current back-off still lasts. */
  get callsLeft(): number {
    return this.#callsLeft;
  }

  /** Starts a back-off, because an inline run exceeded the budget. */
  overrun(): void {
    this.times++;
    this.#level = Math.min(this.#level + 1, levelMax);
    this.#callsLeft = firstCalls * 2 ** this.#level;
    this.#cleanUs = 0;
  }

  /** Counts a call that went to a worker. */
  served(): void {
    if (this.#callsLeft > 0) this.#callsLeft--;
  }

  /** Adds the time of inline runs within the budget, in microseconds. */
  clean(us: number): void {
    if (this.#level < 0) return;
    this.#cleanUs += us;
    if (this.#cleanUs < cleanUs) return;
    this.#cleanUs = 0;
    this.#level--;
  }
}

/**
 * Returns the class of a call's arguments. Calls of one class are expected to cost about the same.
 *
 * The class combines the octaves of two values. One is the total size of the arguments (elements, characters, bytes). The other is the
 * largest number among the arguments, because a count may determine the cost (`primes(1e6)`). Reads a few values. Copies and allocates
 * nothing.
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
    if (value instanceof Map || value instanceof Set) return value.size * 2;
  }
  if (depth === depthMax) return 1;
  if (Array.isArray(value)) return value.length * (1 + sizeOf(value[0], depth + 1));
  let sum = 1;
  for (const key in value) sum += 1 + sizeOf((value as Record<string, unknown>)[key], depth + 1);
  return sum;
}

/** Returns the octave of a value: 0 below 1, then one octave per power of two, up to 63. NaN gives 0, and infinity gives 63. */
function octave(value: number): number {
  if (!(value >= 1)) return 0;
  if (value < 2 ** 31) return 32 - Math.clz32(value);
  return Math.min(63, Math.floor(Math.log2(value)) + 1);
}

/**
 * The measurements of one task, and the decision where its next call runs. Reads no clock and starts no thread. The caller passes all
 * times, in microseconds.
 */
export class Model {
  readonly backoff = new InlineBackoff();
  readonly profiles = new Map<number, CallProfile>();
  readonly #budgetUs: number;

  constructor(budgetUs: number) {
    this.#budgetUs = budgetUs;
  }

  /** Returns the profile of calls with arguments of this class. Returns undefined if the task has too many classes. */
  profile(argumentClass: number): CallProfile | undefined {
    let profile = this.profiles.get(argumentClass);
    if (profile === undefined && this.profiles.size < argumentClassesMax) {
      profile = new CallProfile(this.#budgetUs);
      this.profiles.set(argumentClass, profile);
    }
    return profile;
  }

  /** Decides where a call runs. `leftUs` is the time that is left of the turn. */
  place(profile: CallProfile | undefined, burst: number, burstId: number, workers: number, leftUs: number): Place {
    if (profile === undefined || this.backoff.active) {
      this.backoff.served();
      return "worker";
    }
    const place = profile.choose(burst, burstId, workers);
    return place === "worker" || profile.upperUs > leftUs ? "worker" : place;
  }

  /** Adds an inline run that took `us`. For `pausedUs` of this time, the machine did not run this thread. */
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

  /** Adds a batch of inline runs of these classes. The batch was within the budget. */
  addBatch(profiles: ReadonlyMap<number, CallProfile>, ran: BatchRuns): void {
    this.backoff.clean(ran.us);
    for (const profile of profiles.values()) profile.addBatch(ran, profiles.size);
  }

  /**
   * Starts a back-off, because a batch of inline runs exceeded the budget. Any of the given classes may have had the long
   * run, so all of them lose their inline measurements.
   */
  batchOverran(profiles: ReadonlyMap<number, CallProfile>, us: number, pausedUs = 0): void {
    if (us - pausedUs <= this.#budgetUs) return;
    this.backoff.overrun();
    for (const profile of profiles.values()) profile.overran();
  }
}
