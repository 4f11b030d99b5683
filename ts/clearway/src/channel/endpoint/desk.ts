// SPDX-License-Identifier: MIT OR Apache-2.0
import { ClearwayError, invalid } from "../../error/clearway-error.js";
import { Status } from "../wire/frame.js";
import { Early } from "./early.js";
import type { Link } from "./link.js";
import type { Served } from "./served.js";
import { after, type Timer } from "./timer.js";

/** A stream that the other end asks for. */
export interface Asked {
  readonly id: number;
  readonly channel: string;
  /** Answers that there is none. */
  refuse(status: Status): void;
}

/** What serves a channel at this end. None of it throws. */
export interface Handler<A extends Asked = Asked> {
  request(served: Served): void;
  /** Without it the channel has no events. */
  listen?(asked: A): void;
}

type Entry<A> = { served: Served } | { asked: A };

/** Requests of the other end: hands them to their channel's handler, and keeps those that come before it. */
export class Desk<A extends Asked> {
  readonly #link: Link;
  readonly #handlers = new Map<string, Handler<A>>();
  readonly #early: Early<Entry<A>>;
  /** By id, those that were not answered yet, whether they run or wait. */
  readonly #open = new Map<number, Served>();
  /** Posts that are not done: nobody waits for them, and they have no ids. */
  readonly #posts = new Set<Served>();
  #timer: Timer | undefined;
  #idle: (() => void)[] = [];

  constructor(link: Link) {
    this.#link = link;
    const { early, earlyBytesMax, earlyMs } = link.settings;
    this.#early = new Early({ each: early, bytesMax: earlyBytesMax, keptMs: earlyMs });
  }

  /** How many requests were not answered yet. */
  get size(): number {
    return this.#open.size + this.#posts.size;
  }

  /** Registers a channel's handler, to which what came early goes at the end of this tick. Throws `invalid-argument` for a second one. */
  handle(name: string, handler: Handler<A>): Disposable {
    if (this.#handlers.has(name)) throw invalid("channel", "handled once", name);
    this.#handlers.set(name, handler);
    queueMicrotask(() => {
      if (this.#handlers.get(name) !== handler) return;
      for (const entry of this.#early.take(name)) this.#hand(handler, entry);
    });
    return {
      [Symbol.dispose]: () => {
        if (this.#handlers.get(name) === handler) this.#handlers.delete(name);
      },
    };
  }

  request(served: Served): void {
    const { callsMax } = this.#link.settings;
    if (served.wanted && this.#open.has(served.id)) return this.#link.broken(`two calls of number ${served.id}`);
    if (served.wanted) this.#open.set(served.id, served);
    else this.#posts.add(served);
    if (this.size > callsMax) return served.answer(Status.busy);
    this.#take(served.channel, { served }, served.message.body.length);
  }

  listen(asked: A, bytes: number): void {
    this.#take(asked.channel, { asked }, bytes);
  }

  /** A call was cancelled there. */
  cancel(id: number, status: number): void {
    const served = this.#open.get(id);
    if (served === undefined) return;
    this.#early.remove(served.channel, { served });
    served.abort(new ClearwayError(status === Status.timeout ? "timeout" : "cancelled", "the caller has cancelled"));
  }

  /** A stream that waits for its handler is not asked for any more; false when it does not wait. */
  withdraw(asked: A): boolean {
    return this.#early.remove(asked.channel, { asked });
  }

  /** Sets how many early messages of a channel are kept; the oldest that are too many are dropped. */
  resize(name: string, count: number): void {
    for (const entry of this.#early.resize(name, count)) refuse(entry, Status.dropped);
  }

  settled(served: Served): void {
    if (served.wanted) this.#open.delete(served.id);
    else this.#posts.delete(served);
    if (this.size === 0) for (const each of this.#idle.splice(0)) each();
  }

  /** Settles when every request has its answer. */
  idle(): Promise<void> {
    return this.size === 0 ? Promise.resolve() : new Promise((resolve) => this.#idle.push(resolve));
  }

  /** Answers what waits for a handler: there will be none. */
  refuseEarly(): void {
    this.#expire(Number.POSITIVE_INFINITY);
  }

  /** The transport is closed. */
  closed(): void {
    clearTimeout(this.#timer);
    this.#early.expire(Number.POSITIVE_INFINITY);
    for (const served of [...this.#open.values(), ...this.#posts])
      served.abort(this.#link.closedError(`call of ${served.channel}`));
    this.#handlers.clear();
  }

  #take(name: string, entry: Entry<A>, bytes: number): void {
    const handler = this.#handlers.get(name);
    if (handler !== undefined) return this.#hand(handler, entry);
    if (this.#link.settings.earlyMs === 0) return refuse(entry, Status.noHandler);
    // A message of no bytes is not free either.
    for (const gone of this.#early.add(name, entry, bytes + 64, Date.now())) refuse(gone, Status.dropped);
    this.#wind();
  }

  #hand(handler: Handler<A>, entry: Entry<A>): void {
    if ("served" in entry) {
      if (entry.served.settled) return;
      entry.served.start();
      handler.request(entry.served);
    } else if (handler.listen) handler.listen(entry.asked);
    else entry.asked.refuse(Status.notImplemented);
  }

  #wind(): void {
    const next = this.#early.nextMs;
    if (this.#timer !== undefined || next === undefined || next === Number.POSITIVE_INFINITY) return;
    this.#timer = after(Math.max(next - Date.now(), 1), () => {
      this.#timer = undefined;
      this.#expire(Date.now());
      this.#wind();
    });
  }

  #expire(nowMs: number): void {
    for (const entry of this.#early.expire(nowMs)) refuse(entry, Status.noHandler);
  }
}

function refuse<A extends Asked>(entry: Entry<A>, status: Status): void {
  if ("served" in entry) entry.served.answer(status);
  else entry.asked.refuse(status);
}
