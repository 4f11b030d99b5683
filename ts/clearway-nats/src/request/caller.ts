// SPDX-License-Identifier: MIT OR Apache-2.0
import { createInbox, type Msg } from "@nats-io/transport-node";
import type { StandardMessageCodec } from "clearway/channel";
import { ClearwayError, caused } from "clearway/remote";
import type { Clock } from "../clock.js";
import type { Connected } from "../options/connect.js";
import type { CallSettings, RequestSettings } from "../options/pool.js";
import { outcome } from "../outcome.js";
import { fields, malformed } from "../wire/call.js";
import type { Charge } from "../wire/parts.js";
import { isWorkerId, Op, type Subjects, subjectsOf } from "../wire/protocol.js";
import { Link, type LinkEvents } from "./link.js";
import { Ask, Members } from "./members.js";
import { type CallHost, RemoteCall, type TaskRecord } from "./remote-call.js";
import { iterablePromise, RemoteStream } from "./remote-stream.js";

/** How often a caller looks for calls without a sign of life, in milliseconds. */
const tickMs = 1_000;

/** The names of the last parts of the subjects that are no calls. A call's token is a number in base 36 behind a hyphen. */
const aliveToken = "alive";
const whoToken = "who";

/** An entry of the pool's table of tokens: a call, or a question to a worker. */
type Entry = RemoteCall | Ask;

/** The engine of a pool in `request` mode, at the caller. */
export class Caller implements CallHost, LinkEvents {
  readonly codec: StandardMessageCodec;
  readonly clock: Clock;
  readonly settings: RequestSettings;
  readonly records = new Map<string, TaskRecord>();
  readonly charge: Charge;
  readonly link: Link;
  readonly members: Members;
  /** Number of messages for a call that is not open: an answer that came too late, or a stray one. */
  forNobody = 0;
  openCount = 0;
  readonly #subjects: Subjects;
  /** The beginning of the subjects of all workers. */
  readonly #workers: string;
  readonly #inbox: string;
  readonly #own: boolean;
  readonly #table = new Map<string, Entry>();
  /** Calls with a key that wait for the connection. */
  readonly #parked = new Set<RemoteCall>();
  #stopTicks = (): void => {};
  #last = 0;
  #heldBytes = 0;
  #ended: ClearwayError | undefined;
  #whenIdle: (() => void) | undefined;
  #closing: Promise<void> | undefined;

  constructor(
    { connection, own, inboxPrefix }: Connected,
    settings: RequestSettings,
    codec: StandardMessageCodec,
    clock: Clock,
  ) {
    this.settings = settings;
    this.clock = clock;
    this.#own = own;
    this.codec = codec;
    this.#subjects = subjectsOf(settings.module, settings.version);
    this.#workers = this.#subjects.worker("");
    this.#inbox = `${createInbox(inboxPrefix)}.`;
    this.charge = { take: (bytes) => this.#take(bytes), give: (bytes) => this.#give(bytes) };
    this.link = new Link(connection, this);
    this.link.subscribe(`${this.#inbox}*`, (message) => this.#receive(message));
    const { module, version } = settings;
    const parts = { link: this.link, codec: this.codec, subjects: this.#subjects, clock, module, version };
    this.members = new Members({ ...parts, reply: this.#inbox + whoToken });
    this.#stopTicks = clock.every(tickMs, () => this.tick());
  }

  get messageBytesMax(): number {
    return this.settings.limits.messageBytesMax;
  }

  get payloadMax(): number {
    return this.link.payloadMax;
  }

  /** Makes a call. Returns a promise, or a stream for a task that is one; if that is not known yet, both in one. */
  submit(task: string, args: readonly unknown[], settings: CallSettings): unknown {
    const record = this.#record(task);
    const { promise, ...settle } = outcome();
    const { kind } = record;
    if (kind === "function") return this.#begin(new RemoteCall(this, record, settings, settle), args, promise);
    // The call must not keep the stream alive that the app may have dropped: neither itself, nor by the promise that resolves with it.
    let pending: { settle: typeof settle; stream: RemoteStream | undefined } | undefined = {
      settle,
      stream: undefined,
    };
    const take = (): typeof pending => {
      const taken = pending;
      pending = undefined;
      return taken;
    };
    const call = new RemoteCall(this, record, settings, {
      resolve(value) {
        const taken = take();
        taken?.settle.resolve(record.kind === "stream" ? taken.stream : value);
      },
      fail: (reason) => take()?.settle.fail(reason),
    });
    const stream = new RemoteStream(call);
    if (kind === undefined) {
      pending.stream = stream;
      return this.#begin(call, args, iterablePromise(promise, stream));
    }
    pending = undefined; // no promise is given out, and the reader receives the outcome
    return this.#begin(call, args, stream);
  }

  // Sends a call, unless it is a stream, which its first read sends. Returns `answer`.
  #begin<Answer>(call: RemoteCall, args: readonly unknown[], answer: Answer): Answer {
    try {
      if (this.#ended) throw this.#ended;
      call.prepare(args);
      if (call.record.kind !== "stream") call.start();
    } catch (reason) {
      call.refuse(reason);
    }
    return answer;
  }

  /** Asks a worker a question. Resolves with the fields of its answer. Rejects with `worker-lost`. */
  ask(worker: string, op: number): Promise<readonly unknown[]> {
    const token = this.#token();
    return new Promise((resolve, reject) => {
      if (this.#ended) return reject(this.#ended);
      const forget = (): void => void this.#table.delete(token);
      this.#table.set(token, new Ask(worker, this.codec, { resolve, reject, forget }));
      this.link.send(this.#subjects.worker(worker), this.codec.encode([op]), this.#inbox + token);
    });
  }

  open(call: RemoteCall): void {
    if (this.#ended) throw this.#ended;
    const { callsMax } = this.settings.limits;
    // Calls that have ended for their caller count until their workers have answered, because they keep their tokens.
    if (this.#table.size >= callsMax)
      throw new ClearwayError("queue-full", `the pool has ${callsMax} open calls, which is its limit`);
    call.token = this.#token();
    this.#table.set(call.token, call);
    this.openCount++;
  }

  route(call: RemoteCall, bytes: Uint8Array): void {
    const { key } = call.settings;
    if (key === undefined) return this.#send(call, this.#subjects.call, bytes);
    call.first = bytes;
    const ready = this.members.ready();
    void ready.then(() => {
      if (call.state !== "open") return;
      // The workers do not hear the question who is there, and are asked again when the connection is back.
      if (this.link.interrupted) this.#parked.add(call);
      else if (this.members.ready() !== ready) this.route(call, bytes);
      else this.#routeByKey(call, key, bytes);
    });
  }

  #routeByKey(call: RemoteCall, key: string, bytes: Uint8Array): void {
    const id = this.members.pick(key);
    if (id === undefined) return this.#explain(call);
    call.target = id;
    this.#send(call, this.#subjects.worker(id), bytes);
  }

  unreceived(call: RemoteCall): void {
    const { target, first } = call;
    if (target === undefined || first === undefined) return this.#explain(call);
    // The worker of the key is gone and has not received the call. The key now belongs to another one.
    this.members.remove(target);
    call.sent = false;
    this.route(call, first);
  }

  #explain(call: RemoteCall): void {
    void this.members.explain().then((why) => call.lose(why));
  }

  tell(call: RemoteCall, bytes: Uint8Array): void {
    const known = call.worker ?? (call.target === undefined ? undefined : this.#subjects.worker(call.target));
    this.link.send(known ?? this.#subjects.cancel, bytes, this.#inbox + call.token);
  }

  drained(): Promise<void> | undefined {
    return this.link.drained();
  }

  isWorker(subject: string): boolean {
    return subject.startsWith(this.#workers) && isWorkerId(subject.slice(this.#workers.length));
  }

  settled(): void {
    this.openCount--;
    if (this.openCount === 0) this.#whenIdle?.();
  }

  forget(call: RemoteCall): void {
    this.#parked.delete(call);
    this.#table.delete(call.token);
  }

  interrupted(): void {
    const why = "the connection to NATS was interrupted, and messages of the call may be lost";
    for (const entry of [...this.#table.values()])
      if (entry instanceof RemoteCall) entry.interrupted(() => new ClearwayError("worker-lost", why));
  }

  back(): void {
    void this.members.gather();
    const parked = [...this.#parked];
    this.#parked.clear();
    for (const call of parked) if (call.first !== undefined) this.route(call, call.first);
  }

  denied(subject: string, cause: Error): void {
    const why = caused("not-allowed", `NATS does not allow this user to use the subject ${subject}`, cause);
    this.settings.onError(why);
    for (const entry of [...this.#table.values()]) {
      // No answer comes to a refused inbox, and none to a call that was refused. A call with a worker was allowed.
      const refused = entry.worker === undefined && this.#subjectOf(entry) === subject;
      if (refused || subject.startsWith(this.#inbox)) entry.lose(why);
    }
  }

  closed(why: ClearwayError): void {
    this.#end(why);
  }

  error(thrown: unknown): void {
    this.settings.onError(thrown);
  }

  /** Fails the calls without a sign of life. The pool calls it every second. */
  tick(): void {
    const { silenceMs } = this.settings;
    // Counts ticks instead of time. After a pause of this process, messages that have arrived meanwhile are read before the next tick.
    const most = Math.ceil(silenceMs / tickMs);
    for (const entry of [...this.#table.values()])
      if (++entry.silent > most) entry.lose(this.#silent(entry, silenceMs));
  }

  /** See `Pool.close()`. A limit of time also applies if the pool is closing already. */
  close(timeoutMs?: number): Promise<void> {
    if (this.#closing && timeoutMs !== undefined) {
      const stop = this.clock.after(timeoutMs, () => this.#cancelLate(timeoutMs));
      void this.#closing.then(stop, stop);
    }
    this.#closing ??= this.#close(timeoutMs ?? 30_000);
    return this.#closing;
  }

  /** See `Pool.terminate()`. */
  async terminate(): Promise<void> {
    this.#cancelAll(new ClearwayError("pool-terminated", "the pool was terminated"));
    this.#whenIdle?.();
    await this.close(0);
  }

  async #close(timeoutMs: number): Promise<void> {
    const why = new ClearwayError("pool-closed", "the pool is closed");
    this.#ended ??= why;
    if (this.openCount > 0) {
      await new Promise<void>((resolve) => {
        const disarm = this.clock.after(timeoutMs, resolve);
        this.#whenIdle = () => {
          disarm();
          resolve();
        };
      });
    }
    this.#cancelLate(timeoutMs);
    await this.link.flush(this.clock);
    this.link.close();
    this.#end(why);
    if (this.#own) await this.link.connection.close();
  }

  #cancelLate(timeoutMs: number): void {
    const why = `the pool is closed, and the call took over ${timeoutMs} ms more`;
    this.#cancelAll(new ClearwayError("pool-closed", why));
  }

  #cancelAll(why: ClearwayError): void {
    this.#ended ??= why;
    for (const entry of [...this.#table.values()]) entry.cancel(why, "cancelled");
  }

  #end(why: ClearwayError): void {
    this.#ended ??= why;
    this.#stopTicks();
    for (const entry of [...this.#table.values()]) entry.lose(why);
    this.#whenIdle?.();
  }

  #send(call: RemoteCall, subject: string, bytes: Uint8Array): void {
    const begin = (): boolean => {
      call.sent = call.state === "open";
      // Its worker owes signs of life from now on, however long the call has waited here.
      call.silent = 0;
      return call.sent;
    };
    // During an interruption, the call waits for the connection, and is not sent if it has ended by then.
    if (this.link.interrupted) return this.link.send(subject, bytes, this.#inbox + call.token, begin);
    begin();
    this.link.send(subject, bytes, this.#inbox + call.token);
  }

  #receive(message: Msg): void {
    const token = message.subject.slice(this.#inbox.length);
    const entry = this.#table.get(token);
    if (entry) return entry.receive(message);
    if (token === aliveToken) return this.#alive(message);
    if (token === whoToken) return this.members.announced(message);
    if (message.data.length > 0) this.forNobody++;
  }

  // Returns the subject to which the first message of a call was sent.
  #subjectOf({ target }: Entry): string {
    return target === undefined ? this.#subjects.call : this.#subjects.worker(target);
  }

  // A worker says which calls of this pool it has.
  #alive(message: Msg): void {
    const { reply } = message;
    if (!reply || !this.isWorker(reply)) return;
    const [op, tokens] = fields(this.codec, message.data, false);
    if (op !== Op.alive || !Array.isArray(tokens)) throw malformed("a sign of life names no calls");
    const gone: unknown[] = [];
    for (const token of tokens) {
      const entry = this.#table.get(token);
      if (entry) entry.alive(reply);
      else gone.push(token);
    }
    this.link.send(reply, this.codec.encode([Op.here, gone]), this.#inbox + aliveToken);
  }

  #silent(entry: Entry, silenceMs: number): ClearwayError {
    if (entry instanceof RemoteCall && !entry.sent)
      return new ClearwayError("transport-closed", "the connection to NATS is interrupted, and the call was not sent");
    const since = `for ${silenceMs} ms`;
    return new ClearwayError(
      "worker-lost",
      this.link.interrupted
        ? `the connection to NATS was interrupted, and the call had no sign of life ${since}`
        : `the worker process that had the call gave no sign of life ${since}`,
    );
  }

  #record(name: string): TaskRecord {
    let record = this.records.get(name);
    if (record === undefined) {
      record = { name, kind: undefined, calls: 0, ok: 0, failed: 0, cancelled: 0 };
      this.records.set(name, record);
    }
    return record;
  }

  #token(): string {
    return `-${(this.#last++).toString(36)}`;
  }

  #take(bytes: number): void {
    if (this.#heldBytes + bytes > this.settings.limits.bytesMax)
      throw new ClearwayError(
        "queue-full",
        `messages from workers would take more than ${this.settings.limits.bytesMax} bytes`,
      );
    this.#heldBytes += bytes;
  }

  #give(bytes: number): void {
    this.#heldBytes -= bytes;
  }
}
