// SPDX-License-Identifier: MIT OR Apache-2.0
import { onAbort } from "#host";
import { abortOf, abortSignal, aboveZero, checked, type Rules } from "../../error/checked.js";
import { ClearwayError } from "../../error/clearway-error.js";
import { clearTimeout, OwnPromise, type Timer } from "../../globals.js";
import { timeLimit } from "../../lazy/lazy.js";
import { readError } from "../wire/error-body.js";
import { Flag, type Frame, Op, Status } from "../wire/frame.js";
import { type Connection, nothing } from "./connection.js";
import { statusError } from "./outcome.js";
import type { Encoded, Received } from "./outgoing-value.js";

/**
 * A request that waits to be sent. `leave` sends the request. `hold` is called before a request waits: the app may change its value
 * meanwhile. If one of them throws, the outbox calls `refuse` with the error.
 */
export interface QueuedRequest {
  leave(): void;
  hold(): void;
  refuse(reason: unknown): void;
}

/**
 * Keeps requests while the transport is congested, in the order in which they were made. The callers limit the number of
 * requests.
 */
export class Outbox {
  #waiting: QueuedRequest[] = [];
  readonly #congested: () => boolean;

  constructor(congested: () => boolean) {
    this.#congested = congested;
  }

  /** Sends a request now, or keeps it. Returns false if the request was kept. */
  push(request: QueuedRequest): boolean {
    if (this.#waiting.length > 0 || this.#congested()) {
      // Before `hold`, because a getter in the value may send another request.
      this.#waiting.push(request);
      try {
        request.hold();
      } catch (reason) {
        this.remove(request);
        request.refuse(reason);
      }
      return false;
    }
    leave(request);
    return true;
  }

  /** Removes a request that has not been sent. Returns false if the request has been sent. */
  remove(request: QueuedRequest): boolean {
    const index = this.#waiting.indexOf(request);
    if (index < 0) return false;
    this.#waiting.splice(index, 1);
    return true;
  }

  /** Sends waiting requests. The owner calls this when the transport has room again. */
  drain(): void {
    while (!this.#congested()) {
      const next = this.#waiting.shift();
      if (next === undefined) return;
      leave(next);
    }
  }

  /** Drops all waiting requests. Calls neither `leave` nor `refuse`. */
  clear(): void {
    this.#waiting = [];
  }
}

function leave(request: QueuedRequest): void {
  try {
    request.leave();
  } catch (reason) {
    request.refuse(reason);
  }
}

/**
 * Follows the signal of a request that counts as open but has not been sent. Calls `abort` when the signal aborts. `unsent` is
 * true if this happens during `follow`, which means before the request is sent. Returns a function that unsubscribes. Returns
 * undefined if the request is not open any more: the signal comes from the app, and subscribing to it can end the request or
 * close the endpoint.
 */
export function follow(
  signal: AbortSignal,
  isOpen: () => boolean,
  abort: (reason: unknown, unsent: boolean) => void,
): (() => void) | undefined {
  let unsent = true;
  const unlisten = onAbort(signal, (reason) => abort(reason, unsent));
  unsent = false;
  if (isOpen()) return unlisten;
  unlisten();
  return undefined;
}

/** Limits and cancellation of one call. */
export interface CallOptions {
  /**
   * When the signal aborts, cancels the call at both ends; on the plain wire, at this end only. The call rejects with the
   * signal's reason.
   */
  readonly signal?: AbortSignal | undefined;
  /**
   * Maximum run time of the handler, in milliseconds. The other end measures it from the start of the handler, and enforces it.
   * On the plain wire, this end measures it from the start of the call.
   */
  readonly timeoutMs?: number | undefined;
  /** Maximum time of the whole call, in milliseconds. This end enforces it, even if the other end does not react. */
  readonly deadlineMs?: number | undefined;
}

const callRules: Rules = { signal: abortSignal, timeoutMs: aboveZero, deadlineMs: aboveZero };
const noOptions: CallOptions = {};

class Call implements QueuedRequest {
  timer: Timer | undefined;
  unlisten: (() => void) | undefined;

  constructor(
    readonly owner: CallOwner,
    readonly id: number,
    readonly name: Uint8Array,
    readonly channel: string,
    readonly message: Encoded,
    readonly options: CallOptions,
    readonly resolve: (reply: Received) => void,
    readonly reject: (reason: unknown) => void,
  ) {}

  leave(): void {
    this.owner.leave(this);
  }

  hold(): void {
    this.message.value?.hold();
  }

  refuse(reason: unknown): void {
    this.owner.refuse(this, reason);
  }
}

interface CallOwner {
  leave(call: Call): void;
  refuse(call: Call, reason: unknown): void;
}

/** Open calls of this end. Each call settles once: by its answer, its signal, its time limit or the transport's end. */
export class Calls implements CallOwner {
  readonly #connection: Connection;
  readonly #outbox: Outbox;
  readonly #open = new Map<number, Call>();
  #last = 0;
  /** Number of calls that were given up after they were sent, and whose replies may still arrive. */
  #late = 0;
  /** The newest id at the time when a call was last counted in `#late`. */
  #lateLast = 0;
  #idle: (() => void) | undefined;
  /** Called when `awaitsReplies` may have changed. */
  readonly #onChange: () => void;

  constructor(connection: Connection, outbox: Outbox, onChange: () => void) {
    this.#onChange = onChange;
    this.#connection = connection;
    this.#outbox = outbox;
  }

  get size(): number {
    return this.#open.size;
  }

  /** Whether a reply may still arrive, to an open call or to one that was given up. */
  get awaitsReplies(): boolean {
    return this.#open.size + this.#late > 0;
  }

  /** Starts a call. Unless `isLimited`, `callsMax` does not refuse it. */
  call(
    name: Uint8Array,
    channel: string,
    message: Encoded,
    options?: CallOptions,
    isLimited = true,
  ): Promise<Received> {
    const settings = options === undefined ? noOptions : checked(options, callRules);
    const { signal, timeoutMs, deadlineMs } = settings;
    const aborted = abortOf(signal);
    if (aborted) return OwnPromise.reject(aborted.reason);
    if (this.#connection.over) return OwnPromise.reject(this.#connection.closedError(`call to ${channel}`));
    const { callsMax } = this.#connection.settings;
    if (isLimited && this.#open.size >= callsMax)
      return OwnPromise.reject(new ClearwayError("queue-full", `too many open calls: callsMax=${callsMax}`));
    return new OwnPromise((resolve, reject) => {
      const id = this.#nextId();
      const call = new Call(this, id, name, channel, message, settings, resolve, reject);
      this.#open.set(id, call);
      if (this.#open.size === 1) this.#onChange();
      if (signal) {
        call.unlisten = follow(
          signal,
          () => this.#open.get(id) === call,
          (reason, unsent) => (unsent ? call.refuse(reason) : this.#giveUp(call, Status.cancelled, reason)),
        );
        if (call.unlisten === undefined) return;
      }
      this.#limit(call, timeoutMs, deadlineMs);
      this.#outbox.push(call);
    });
  }

  leave({ id, name, channel, message, options }: Call): void {
    this.#connection.send(this.#parts(id, name, channel, options), message);
  }

  refuse({ id }: Call, reason: unknown): void {
    this.#take(id)?.reject(reason);
  }

  /** Settles the call that a reply belongs to. Drops a reply whose call has already settled. */
  reply(frame: Head, message: Received): void {
    if (this.#late > 0) {
      // An end does not reply to a call whose cancel it has read, and replies keep their order. A reply to a call that was sent
      // after the last cancel therefore follows all late replies. The plain wire has no cancel.
      if (!this.#open.has(frame.id)) this.#late--;
      else if (this.#connection.wire === "clearway" && frame.id > this.#lateLast) this.#late = 0;
      this.#onChange();
    }
    const call = this.#take(frame.id);
    if (call === undefined) return;
    if (frame.op === Op.answer || frame.a === Status.done) return call.resolve(message);
    call.reject(failure(frame, call.channel, this.#connection.valuesMax));
  }

  /** Rejects all open calls. The owner calls this when the transport has closed. */
  closed(): void {
    for (const { id, channel } of [...this.#open.values()])
      this.#take(id)?.reject(this.#connection.closedError(`call to ${channel}`));
  }

  /** Returns a promise that settles when no call is open. */
  idle(): Promise<void> {
    if (this.#open.size === 0) return OwnPromise.resolve();
    return new OwnPromise((resolve) => {
      const before = this.#idle;
      this.#idle = () => {
        before?.();
        resolve();
      };
    });
  }

  #parts(id: number, name: Uint8Array, channel: string, { timeoutMs = 0, deadlineMs = 0 }: CallOptions) {
    if (this.#connection.wire === "plain") return { op: Op.message, id, name };
    return { op: Op.call, id, name, channel, a: toWire(deadlineMs), b: toWire(timeoutMs) };
  }

  #limit(call: Call, timeoutMs: number | undefined, deadlineMs: number | undefined): void {
    if (timeoutMs === undefined && deadlineMs === undefined) return;
    const plainTimeout = this.#connection.wire === "plain" ? timeoutMs : undefined;
    const ms = Math.min(deadlineMs ?? Number.POSITIVE_INFINITY, plainTimeout ?? Number.POSITIVE_INFINITY);
    if (ms === Number.POSITIVE_INFINITY) return;
    const deadline = ms === deadlineMs;
    call.timer = timeLimit(ms, () => {
      const error = new ClearwayError(deadline ? "deadline" : "timeout", `no answer of ${call.channel} in ${ms} ms`);
      this.#giveUp(call, deadline ? Status.cancelled : Status.timeout, error);
    });
  }

  // Rejects a call early. If the call has already been sent, also sends a cancel to the other end. The plain wire has no
  // cancel.
  #giveUp(call: Call, status: Status, reason: unknown): void {
    if (!this.#open.has(call.id)) return;
    const sent = !this.#outbox.remove(call);
    if (sent) {
      this.#late++;
      this.#lateLast = this.#last;
    }
    this.#take(call.id);
    if (sent && this.#connection.wire === "clearway")
      this.#connection.control({ op: Op.cancel, id: call.id, a: status });
    call.reject(reason);
  }

  #take(id: number): Call | undefined {
    const call = this.#open.get(id);
    if (call === undefined) return undefined;
    this.#open.delete(id);
    if (call.timer !== undefined) clearTimeout(call.timer);
    call.unlisten?.();
    if (this.#open.size === 0) {
      this.#onChange();
      this.#idle?.();
      this.#idle = undefined;
    }
    return call;
  }

  #nextId(): number {
    do this.#last = (this.#last % 0xffff_ffff) + 1;
    while (this.#open.has(this.#last));
    return this.#last;
  }
}

/** The numbers of a frame, and its body if it is a frame of bytes. */
export type Head = Readonly<Pick<Frame, "flags" | "id" | "a" | "b" | "c">> & {
  readonly op: number;
  readonly body?: Uint8Array;
};

/** Returns the error in a failed reply, or in the end of a stream. */
export function failure({ a, flags, body }: Head, channel: string, valuesMax: number): unknown {
  if (a !== Status.error || (flags & Flag.empty) !== 0) return statusError(a, channel);
  try {
    return readError(body ?? nothing.body, channel, valuesMax);
  } catch (cause) {
    return new ClearwayError("protocol", `an error of ${channel} that could not be read`, { cause });
  }
}

// Converts a time limit to its number on the wire. 0 means no limit. A time that is too long for the field becomes 0 too.
function toWire(ms: number): number {
  return ms < 0xffff_ffff ? Math.ceil(ms) : 0;
}
