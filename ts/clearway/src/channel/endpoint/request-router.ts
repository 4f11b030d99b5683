// SPDX-License-Identifier: MIT OR Apache-2.0
import { ClearwayError, invalid } from "../../error/clearway-error.js";
import { clearTimeout, clock, dispose, OwnPromise, queueMicrotask, type Timer, timerMsMax } from "../../globals.js";
import { after } from "../../lazy/lazy.js";
import { roughBytes } from "../../transfer/uncloneable.js";
import { Flag, type FrameParts, Status } from "../wire/frame.js";
import { type Connection, nothing } from "./connection.js";
import { statusError } from "./outcome.js";
import { type Encoded, keptBytes, type Received } from "./outgoing-value.js";
import { type Answered, Replies, type RepliesOwner, type Served, type ServedOwner } from "./served.js";

// Maximum number of channels whose dropped posts are reported. The other end chooses the names.
const droppingMax = 64;

/** Early messages of one channel, oldest first. */
type ChannelBuffer<T> = { readonly entry: T; readonly bytes: number; readonly untilMs: number }[];

/** Limits for early messages. */
interface EarlyLimits {
  /** Messages per channel. */
  readonly each: number;
  readonly bytesMax: number;
  readonly keptMs: number;
}

/**
 * Keeps early messages: messages that arrive before their channel has a handler. It limits the number of messages per channel,
 * the size of all messages in bytes, and the time that a message is kept. It reads no clock and sends nothing: it returns the
 * dropped and expired messages, and its owner answers them.
 */
export class Early<T> {
  readonly #limits: EarlyLimits;
  readonly #buffers = new Map<string, ChannelBuffer<T>>();
  #bytes = 0;

  constructor(limits: EarlyLimits) {
    this.#limits = limits;
  }

  /**
   * Adds a message. Returns the messages that were dropped to make room: the channel's oldest messages, and the new message if
   * it does not fit.
   */
  add(name: string, entry: T, bytes: number, nowMs: number): T[] {
    const { each, bytesMax, keptMs } = this.#limits;
    if (each === 0 || bytes > bytesMax) return [entry];
    const buffer = this.#buffers.get(name) ?? [];
    const gone: T[] = [];
    while (buffer.length > 0 && (buffer.length >= each || this.#bytes + bytes > bytesMax))
      gone.push(this.#shift(name, buffer));
    // Adding a message never drops messages of other channels.
    if (this.#bytes + bytes > bytesMax) return [...gone, entry];
    this.#buffers.set(name, buffer);
    buffer.push({ entry, bytes, untilMs: nowMs + keptMs });
    this.#bytes += bytes;
    return gone;
  }

  /** Whether a message of a channel is kept. */
  has(name: string): boolean {
    return this.#buffers.has(name);
  }

  /** Removes the oldest message of a channel and returns it. Undefined if there is none. */
  take(name: string): T | undefined {
    const buffer = this.#buffers.get(name);
    return buffer && this.#shift(name, buffer);
  }

  /** Removes a message. Returns false if the message is not kept. */
  remove(name: string, entry: T): boolean {
    const buffer = this.#buffers.get(name);
    const index = buffer?.findIndex((each) => each.entry === entry) ?? -1;
    if (buffer === undefined || index < 0) return false;
    const [{ bytes }] = buffer.splice(index, 1) as [ChannelBuffer<T>[number]];
    this.#forget(name, buffer, bytes);
    return true;
  }

  /** Removes expired messages and returns them. */
  expire(nowMs: number): T[] {
    const gone: T[] = [];
    for (const [name, buffer] of this.#buffers)
      while (buffer.length > 0 && buffer[0]!.untilMs <= nowMs) gone.push(this.#shift(name, buffer));
    return gone;
  }

  /** Time at which the next message expires, in milliseconds. Undefined if there is no message. */
  get nextMs(): number | undefined {
    let next: number | undefined;
    for (const [first] of this.#buffers.values()) next = Math.min(next ?? Number.POSITIVE_INFINITY, first!.untilMs);
    return next;
  }

  #shift(name: string, buffer: ChannelBuffer<T>): T {
    const first = buffer.shift()!;
    this.#forget(name, buffer, first.bytes);
    return first.entry;
  }

  // A channel without messages has no buffer.
  #forget(name: string, buffer: ChannelBuffer<T>, bytes: number): void {
    this.#bytes -= bytes;
    if (buffer.length === 0) this.#buffers.delete(name);
  }
}

/** A stream that the other end asks for. */
export interface StreamRequest {
  readonly id: number;
  readonly channel: string;
  /** Answers that the stream does not start. `status` is the reason. */
  refuse(status: Status): void;
}

/** Serves a channel at this end. Its methods never throw. */
export interface Handler<A extends StreamRequest = StreamRequest> {
  /**
   * Handles a call or a post. Returns a promise that settles when the handler has ended, and never rejects. Returns undefined
   * if the handler has already ended.
   */
  request(served: Served): Promise<void> | undefined;
  /** Handles a request for a stream. A channel without this method has no events. */
  listen?(requested: A): void;
}

interface DeferredRequest<A> {
  readonly entry: Served | A;
  readonly message: Received;
  readonly bytes: number;
}

/** Passes the other end's requests to their channels' handlers. Keeps requests that arrive before their handler. */
export class RequestRouter<A extends StreamRequest> implements ServedOwner {
  readonly #connection: Connection;
  readonly #handlers = new Map<string, Handler<A>>();
  readonly #early: Early<Served | A>;
  readonly #replies: Replies;
  /** Calls that are not answered yet, by id. Their handlers run or have not started. */
  readonly #open = new Map<number, Served>();
  /** Posts that have not settled. A post has no id, because no caller waits for it. */
  readonly #posts = new Set<Served>();
  /**
   * Number of requests that count against `callsMax`. A request counts until its handler has ended and its answer has been sent,
   * even if the caller has cancelled it.
   */
  #counted = 0;
  /** Requests that arrived while too many bytes of answers waited to leave, in order of arrival. */
  #deferred: DeferredRequest<A>[] = [];
  #deferredBytes = 0;
  /**
   * Channels of which a dropped post was reported. Another one is reported after a request of the channel has run while no other did, so
   * that a flood of posts is not a flood of errors.
   */
  readonly #dropping = new Set<string>();
  #finishing = false;
  #timer: Timer | undefined;
  #idle: (() => void)[] = [];

  constructor(connection: Connection, owner: Pick<RepliesOwner, "mayPause" | "end">) {
    this.#connection = connection;
    const { early, earlyBytesMax, earlyMs } = connection.settings;
    this.#early = new Early({ each: early, bytesMax: earlyBytesMax, keptMs: earlyMs });
    this.#replies = new Replies(connection, { ...owner, onRoom: () => this.#release() });
  }

  /** Number of requests that count against `callsMax`. */
  get size(): number {
    return this.#connection.reason === undefined ? this.#counted : 0;
  }

  get repliesWait(): boolean {
    return this.#replies.wait;
  }

  /** Bytes of answers that wait for the other end to read. */
  get waitingBytes(): number {
    return this.#replies.bytes;
  }

  /**
   * Registers a channel's handler. A microtask passes the early messages to the handler. Disposing the result removes the
   * handler. Throws `invalid-argument` if the channel already has a handler.
   */
  handle(name: string, handler: Handler<A>): Disposable {
    if (this.#handlers.has(name)) throw invalid("channel", "handled once", name);
    this.#handlers.set(name, handler);
    queueMicrotask(() => {
      if (this.#handlers.get(name) === handler) this.#passEarly(name, handler);
    });
    return {
      [dispose]: () => {
        if (this.#handlers.get(name) === handler) this.#handlers.delete(name);
      },
    };
  }

  request(served: Served): void {
    const { callsMax } = this.#connection.settings;
    if (served.wanted && this.#open.has(served.id)) return this.#connection.broken(`two calls of number ${served.id}`);
    const room = this.#counted < callsMax;
    if (room) {
      this.#counted++;
      served.counts = true;
    }
    if (served.wanted) this.#open.set(served.id, served);
    else this.#posts.add(served);
    if (!room) return this.#refuse(served, Status.busy);
    this.#admit(served, served.message);
  }

  listen(requested: A, message: Received): void {
    this.#admit(requested, message);
  }

  /** Cancels a call because the other end has cancelled it. */
  cancel(id: number, status: number): void {
    const served = this.#open.get(id);
    if (served === undefined) return;
    this.withdraw(served);
    served.abort(new ClearwayError(status === Status.timeout ? "timeout" : "cancelled", "the caller has cancelled"));
    this.#checkIdle();
  }

  /** Removes a request whose handler has not started. Returns false if the request does not wait. */
  withdraw(entry: Served | A): boolean {
    const index = this.#deferred.findIndex((each) => each.entry === entry);
    if (index < 0) return this.#early.remove(entry.channel, entry);
    const [{ bytes }] = this.#deferred.splice(index, 1) as [DeferredRequest<A>];
    this.#deferredBytes -= bytes;
    return true;
  }

  settled(served: Served): void {
    if (served.wanted) this.#open.delete(served.id);
    else this.#posts.delete(served);
  }

  reply(parts: FrameParts, message: Encoded = nothing, answered?: Answered): void {
    this.#replies.send(parts, message, answered);
    this.#checkIdle();
  }

  finished(served: Served): void {
    if (served.counts) this.#counted--;
    served.counts = false;
    this.#checkIdle();
  }

  /** Sends waiting answers. The owner calls this when the transport has room again. */
  drain(): void {
    this.#replies.drain();
    this.#checkIdle();
  }

  /** Decides again whether to pause the transport. The owner calls this when it starts or stops waiting for answers. */
  updatePause(): void {
    this.#replies.updatePause();
  }

  /**
   * Refuses the calls that arrive from now on. Until the closing end's own calls are answered, it serves calls, because the handlers of the
   * other end may call back. Returns a promise that settles when every request is answered and all answers have been sent.
   */
  finish(): Promise<void> {
    this.#finishing = true;
    return new OwnPromise((resolve) => {
      this.#idle.push(resolve);
      this.#checkIdle();
    });
  }

  /** Refuses all early messages, because no handler will be registered for them. */
  refuseEarly(): void {
    this.#expire(Number.POSITIVE_INFINITY);
  }

  /** Aborts all requests. The owner calls this when the transport has closed. */
  closed(): void {
    clearTimeout(this.#timer);
    this.#early.expire(Number.POSITIVE_INFINITY);
    this.#deferred = [];
    this.#replies.clear();
    for (const served of [...this.#open.values(), ...this.#posts])
      served.abort(this.#connection.closedError(`call of ${served.channel}`));
    this.#handlers.clear();
  }

  #checkIdle(): void {
    if (this.#idle.length === 0 || this.#open.size + this.#posts.size + this.#replies.size > 0) return;
    for (const each of this.#idle.splice(0)) each();
  }

  // Starts a request, or keeps it while too many bytes of answers wait for the other end. If too many bytes of requests are
  // already kept, the request is refused as busy.
  #admit(entry: Served | A, message: Received): void {
    if (this.#deferred.length === 0 && !this.#replies.full) return this.#take(entry, message);
    const bytes = this.#keptBytes(entry, message);
    this.#replies.updatePause();
    if (this.#deferredBytes >= this.#connection.settings.replyBytesMax) return this.#refuse(entry, Status.busy);
    this.#deferred.push({ entry, message, bytes });
    this.#deferredBytes += bytes;
  }

  #release(): void {
    const deferred = this.#deferred;
    let at = 0;
    while (at < deferred.length && !this.#replies.full) {
      const { entry, message, bytes } = deferred[at++]!;
      this.#deferredBytes -= bytes;
      this.#take(entry, message);
    }
    this.#deferred = deferred.slice(at);
  }

  // Returns the bytes that a request takes while it is kept. The sender's own estimate of a value's size is not trusted.
  #keptBytes({ channel }: Served | A, message: Received): number {
    const bytes = keptBytes(message, channel.length);
    const { flags, value } = message;
    // The memory of a large binary message by structured clone was moved.
    if (value === undefined || (flags & Flag.whole) !== 0) return bytes;
    const { replyBytesMax, earlyBytesMax } = this.#connection.settings;
    return bytes + Math.max(value.bytes, roughBytes(value.value, Math.max(replyBytesMax, earlyBytesMax) + 1));
  }

  #take(entry: Served | A, message: Received): void {
    const { channel } = entry;
    const { closing, settings } = this.#connection;
    // The answer says that nothing has run.
    if (isServed(entry) ? this.#finishing : closing) return this.#refuse(entry, Status.noHandler);
    for (let handler = this.#handlers.get(channel); handler !== undefined; ) {
      // The microtask of `handle` may not have run yet.
      this.#passEarly(channel, handler);
      const next = this.#handlers.get(channel);
      if (next === handler) return this.#dispatch(handler, entry);
      handler = next;
    }
    if (settings.earlyMs === 0 || closing) return this.#refuse(entry, Status.noHandler);
    const bytes = this.#keptBytes(entry, message);
    for (const gone of this.#early.add(channel, entry, bytes, clock())) this.#refuse(gone, Status.dropped);
    this.#startTimer();
  }

  // Passes the messages one at a time, because a handler may remove itself.
  #passEarly(name: string, handler: Handler<A>): void {
    while (this.#early.has(name) && this.#handlers.get(name) === handler)
      this.#dispatch(handler, this.#early.take(name)!);
  }

  #dispatch(handler: Handler<A>, entry: Served | A): void {
    if (isServed(entry)) {
      if (entry.settled) return;
      if (this.#counted < 2) this.#dropping.delete(entry.channel);
      entry.start();
      const running = handler.request(entry);
      if (running === undefined) entry.ended();
      else void running.then(() => entry.ended());
    } else if (handler.listen) handler.listen(entry);
    else entry.refuse(Status.notImplemented);
  }

  // Refuses a request that has not run. The sender of a post receives no answer, so this end reports it.
  #refuse(entry: Served | A, status: Status): void {
    if (!isServed(entry)) return entry.refuse(status);
    entry.answer(status);
    const { channel } = entry;
    const dropping = this.#dropping;
    const { closing, wire } = this.#connection;
    // On the plain wire, a late event of a stream looks like a post.
    if (entry.wanted || closing || wire === "plain") return;
    if (dropping.has(channel) || dropping.size >= droppingMax) return;
    dropping.add(channel);
    const { code } = statusError(status, channel);
    this.#connection.report(new ClearwayError(code, `${channel}: post dropped`), channel);
  }

  #startTimer(): void {
    // First, because a message starts no timer if there is one, and looking for the next message takes as long as there are channels.
    if (this.#timer !== undefined) return;
    const next = this.#early.nextMs;
    if (next === undefined || next === Number.POSITIVE_INFINITY) return;
    this.#timer = after(Math.min(Math.max(next - clock(), 1), timerMsMax), () => {
      this.#timer = undefined;
      this.#expire(clock());
      this.#startTimer();
    });
  }

  #expire(nowMs: number): void {
    for (const entry of this.#early.expire(nowMs)) this.#refuse(entry, Status.noHandler);
  }
}

function isServed(entry: Served | StreamRequest): entry is Served {
  return "wanted" in entry;
}
