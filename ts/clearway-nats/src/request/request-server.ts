// SPDX-License-Identifier: MIT OR Apache-2.0
import type { Msg, Subscription } from "@nats-io/transport-node";
import type { Pool } from "clearway";
import type { StandardMessageCodec } from "clearway/channel";
import { ClearwayError, caused } from "clearway/remote";
import type { Clock } from "../clock.js";
import type { AnyModule, ServeContext, ServedMode } from "../options/serve.js";
import { encodeFailure, fields, malformed } from "../wire/call.js";
import { mayAnswerTo, Op, protocolVersion, type Subjects, subjectsOf } from "../wire/protocol.js";
import { Account, type Total } from "./account.js";
import { hadNoReceiver, Link, type LinkEvents } from "./link.js";
import { ServedCall, type ServedHost } from "./served-call.js";

/** How often a worker process gives a sign of life for the calls that it has, in milliseconds. */
const aliveMs = 1_000;

/** Maximum number of calls that one sign of life names. */
const tokensMax = 8_192;

/** Number of callers above which those without an open call are forgotten. */
const idleCallersMax = 1_024;

/** Counters of a server in `request` mode. */
export interface RequestStats {
  /** Number of open calls. */
  readonly open: number;
  /** Number of callers that the server knows. */
  readonly callers: number;
  /** Number of calls that were accepted. */
  readonly calls: number;
  /** Number of calls that were refused because of a limit. */
  readonly refused: number;
  /** Number of calls that were cancelled because their callers gave no sign of life. */
  readonly abandoned: number;
  /** Bytes of messages that wait here. */
  readonly bytes: number;
  /** Bytes of all messages from callers and to them. */
  readonly ledger: { readonly sentBytes: number; readonly receivedBytes: number };
  /** Messages that were dropped. */
  readonly dropped: {
    /** Calls that name no subject to answer to, or one that a server must not answer to. */
    readonly unanswerable: number;
    /** Messages about a call that is not open. */
    readonly forNobody: number;
    /** Messages that break the protocol and belong to no call. */
    readonly malformed: number;
    /** Messages that were not sent, because too many waited for an interrupted connection. */
    readonly unsent: number;
  };
}

/** Serves calls in `request` mode with the local pool of a worker process. */
export class RequestServer implements ServedMode<RequestStats>, ServedHost, LinkEvents {
  readonly codec: StandardMessageCodec;
  readonly pool: Pool<AnyModule>;
  readonly #context: ServeContext;
  readonly #clock: Clock;
  readonly #subjects: Subjects;
  readonly #subject: string;
  readonly #link: Link;
  readonly #tasks: ReadonlySet<string>;
  readonly #long = new Set<string>();
  readonly #calls = new Map<string, ServedCall>();
  readonly #accounts = new Map<string, Account>();
  readonly #total: Total = { open: 0, bytes: 0 };
  #stopTicks = (): void => {};
  readonly #queue: Subscription;
  readonly #own: Subscription;
  #counts = { calls: 0, refused: 0, abandoned: 0, unanswerable: 0, forNobody: 0 };
  #whenIdle: (() => void) | undefined;

  constructor(context: ServeContext, clock: Clock) {
    this.#context = context;
    this.#clock = clock;
    this.codec = context.codec;
    this.pool = context.pool;
    this.#tasks = new Set(context.tasks);
    const { module, version } = context.settings;
    this.#subjects = subjectsOf(module, version);
    this.#subject = this.#subjects.worker(context.workerId);
    this.#link = new Link(context.connection, this);
    this.#queue = this.#link.subscribe(this.#subjects.call, (message) => this.#called(message), this.#subjects.group);
    this.#own = this.#link.subscribe(this.#subject, (message) => this.#told(message));
    this.#link.subscribe(this.#subjects.cancel, (message) => this.#cancelled(message));
    this.#link.subscribe(this.#subjects.who, (message) => this.#asked(message));
    this.#stopTicks = clock.every(aliveMs, () => this.tick());
  }

  get messageBytesMax(): number {
    return this.#context.settings.limits.messageBytesMax;
  }

  get payloadMax(): number {
    return this.#link.payloadMax;
  }

  /** Settles when calls reach this worker process. */
  async start(): Promise<void> {
    await this.#link.flush(this.#clock);
    this.back();
    await this.#link.flush(this.#clock);
  }

  stats(): RequestStats {
    const { calls, refused, abandoned, unanswerable, forNobody } = this.#counts;
    const { malformed, unsent, sentBytes, receivedBytes } = this.#link;
    return {
      open: this.#calls.size,
      callers: this.#accounts.size,
      calls,
      refused,
      abandoned,
      bytes: this.#total.bytes,
      ledger: { sentBytes, receivedBytes },
      dropped: { unanswerable, forNobody, malformed, unsent },
    };
  }

  async close(timeoutMs: number): Promise<void> {
    const { workerId, settings } = this.#context;
    const endMs = this.#clock.nowMs() + timeoutMs;
    this.#link.send(this.#subjects.members, this.codec.encode([Op.left, workerId, settings.version, protocolVersion]));
    // Calls that are under way to this process still run.
    if (!this.#queue.isClosed()) this.#queue.drain().catch(() => {});
    await this.#link.flush(this.#clock);
    await this.#idle(endMs);
    // Callers that do not know yet that this process leaves still send it calls with a key. Those that NATS has delivered run. The others reach no
    // receiver, and their callers choose another process. Open calls need the subject, so it ends only now.
    if (!this.#own.isClosed()) this.#own.drain().catch(() => {});
    await this.#link.flush(this.#clock);
    await this.#idle(endMs);
    const why = new ClearwayError(
      "pool-closed",
      `the worker process closes, and the call took over ${timeoutMs} ms more`,
    );
    for (const call of [...this.#calls.values()]) call.abort(why);
    for (const account of this.#accounts.values()) account.abandon(why);
    await this.#link.flush(this.#clock);
    this.#stopTicks();
    this.#link.close();
  }

  // Settles when no call is open, or at a time of the clock.
  async #idle(endMs: number): Promise<void> {
    const leftMs = endMs - this.#clock.nowMs();
    if (this.#calls.size === 0 || leftMs <= 0) return;
    await new Promise<void>((resolve) => {
      const disarm = this.#clock.after(leftMs, resolve);
      this.#whenIdle = () => {
        disarm();
        resolve();
      };
    });
  }

  answer(reply: string, bytes: Uint8Array, last: boolean): void {
    this.#link.send(reply, bytes, last ? undefined : this.#subject);
  }

  drained(): Promise<void> | undefined {
    return this.#link.drained();
  }

  checkTask(task: string): void {
    if (this.#tasks.has(task)) return;
    const { module } = this.#context.settings;
    const known = [...this.#tasks].join(", ");
    throw new ClearwayError(
      "unknown-task",
      `the module "${module}" exposes no task "${task.slice(0, 100)}"; it exposes ${known || "none"}`,
    );
  }

  isLong(task: string): boolean {
    return this.#long.has(task);
  }

  forget(call: ServedCall): void {
    if (this.#calls.delete(call.reply) && this.#calls.size === 0) this.#whenIdle?.();
  }

  ended({ account }: ServedCall): void {
    account.leave();
    // An idle caller is remembered for its next call, unless there are very many.
    if (account.open === 0 && this.#accounts.size > idleCallersMax) this.#accounts.delete(account.inbox);
  }

  interrupted(): void {
    for (const call of [...this.#calls.values()]) call.interrupted();
  }

  // Announces this worker, because callers may have forgotten it.
  back(): void {
    this.#link.send(this.#subjects.members, this.#me());
  }

  denied(subject: string, cause: Error): void {
    // A caller chooses the subject of an answer. Without the permission to use it, the answer cannot be sent.
    const own = subject === this.#subject || Object.values(this.#subjects).includes(subject);
    const why = caused("not-allowed", `NATS does not allow this user to use the subject ${subject}`, cause);
    if (own) this.#context.settings.onError(why);
    else this.#counts.unanswerable++;
  }

  closed(why: ClearwayError): void {
    this.#stopTicks();
    for (const call of [...this.#calls.values()]) call.abandon(why);
    for (const account of this.#accounts.values()) account.abandon(why);
    this.#whenIdle?.();
  }

  error(thrown: unknown): void {
    this.#context.settings.onError(thrown);
  }

  /** Gives a sign of life for the calls that are older than a tick, and cancels those whose callers give none. */
  tick(): void {
    if (this.#link.interrupted) return;
    // Counts ticks instead of time. After a pause of this process, messages that have arrived meanwhile are read before the next tick.
    const most = Math.ceil(this.#context.settings.silenceMs / aliveMs);
    for (const call of [...this.#calls.values()]) {
      // A caller takes the parts of an answer as they come. If it does not, its connection was interrupted, and parts are lost.
      if (call.waitsForCaller && call.unheard++ > most) {
        this.#counts.abandoned++;
        call.abandon(new ClearwayError("cancelled", "the caller took no more of the answer"));
        continue;
      }
      if (call.ticks++ === 0) continue;
      call.account.tokens.push(call.reply.slice(call.account.inbox.length + 1));
      if (call.task !== undefined) this.#long.add(call.task);
    }
    for (const account of [...this.#accounts.values()]) {
      const { tokens } = account;
      account.tokens = [];
      account.silent++;
      if (account.silent <= most) this.#giveSign(account, tokens);
      else if (account.open === 0) this.#accounts.delete(account.inbox);
      else if (tokens.length > 0) this.#abandon(account);
    }
  }

  #giveSign({ inbox }: Account, tokens: readonly string[]): void {
    for (let at = 0; at < tokens.length; at += tokensMax) {
      const sign = this.codec.encode([Op.alive, tokens.slice(at, at + tokensMax)]);
      this.#link.send(`${inbox}.alive`, sign, this.#subject);
    }
  }

  #abandon(account: Account): void {
    const why = new ClearwayError("cancelled", "the caller gave no sign of life");
    for (const call of [...this.#calls.values()]) {
      if (call.account !== account) continue;
      this.#counts.abandoned++;
      call.abandon(why);
    }
    account.abandon(why); // a later tick forgets the caller, when the work of its calls has ended
  }

  #called(message: Msg): void {
    const { reply } = message;
    if (!mayAnswerTo(reply) || !reply.includes(".")) {
      this.#counts.unanswerable++;
      return;
    }
    if (this.#calls.has(reply)) throw malformed("a call has the subject of another one");
    const { callsMax, callsPerCallerMax } = this.#context.settings.limits;
    // Checked before the caller is noted, so that any number of refused callers takes no memory.
    if (this.#total.open >= callsMax) return this.#refuse(reply, `the worker process has ${callsMax} open calls`);
    const account = this.#accountOf(reply);
    if (account.open >= callsPerCallerMax)
      return this.#refuse(reply, `the caller has ${callsPerCallerMax} open calls here`);
    const call = new ServedCall(this, account, reply);
    this.#calls.set(reply, call);
    this.#counts.calls++;
    account.enter();
    call.receive(message.data);
  }

  #refuse(reply: string, what: string): void {
    this.#counts.refused++;
    const why = new ClearwayError("queue-full", `${what}, which is its limit`);
    this.answer(reply, encodeFailure(this.codec, why), true);
  }

  // A message to this worker process itself.
  #told(message: Msg): void {
    if (hadNoReceiver(message)) return; // a caller is gone; its silence ends its calls
    const { reply = "" } = message;
    const call = this.#calls.get(reply);
    if (call) {
      call.account.silent = 0;
      return call.receive(message.data);
    }
    const list = fields(this.codec, message.data, true);
    const [op] = list;
    if (op === Op.call || (op === Op.large && list[2] !== true)) return this.#called(message);
    if (op === Op.here) return this.#here(reply, list[1]);
    if (op === Op.who) return this.#asked(message);
    if (op === Op.advise) return this.#advise(reply);
    this.#counts.forNobody++;
  }

  #cancelled(message: Msg): void {
    const [op] = fields(this.codec, message.data, true);
    if (op !== Op.cancel) throw malformed("a cancel is none");
    // Every worker process receives the message, and one of them has the call.
    this.#calls.get(message.reply ?? "")?.receive(message.data);
  }

  #here(reply: string, gone: unknown): void {
    const account = this.#accounts.get(inboxOf(reply));
    if (account === undefined) return;
    if (!Array.isArray(gone)) throw malformed("a sign of life has no list");
    account.silent = 0;
    const why = new ClearwayError("cancelled", "the caller no longer waits for the call");
    for (const token of gone) {
      if (typeof token !== "string") throw malformed("a token is no text");
      const call = this.#calls.get(`${account.inbox}.${token}`);
      if (call === undefined) continue;
      this.#counts.abandoned++;
      call.abandon(why);
    }
  }

  #asked(message: Msg): void {
    if (mayAnswerTo(message.reply)) this.#link.send(message.reply, this.#me());
  }

  #advise(reply: string): void {
    if (!mayAnswerTo(reply)) return;
    this.pool.advise().then(
      ({ tasks }) => {
        const facts = tasks.map(({ task, calls, samples, runUs }) => [task, calls, samples, runUs]);
        this.answer(reply, this.codec.encode([Op.advice, facts]), true);
      },
      (reason) => this.answer(reply, encodeFailure(this.codec, reason), true),
    );
  }

  #me(): Uint8Array {
    const { workerId, settings } = this.#context;
    return this.codec.encode([Op.worker, workerId, settings.version, protocolVersion]);
  }

  #accountOf(reply: string): Account {
    const inbox = inboxOf(reply);
    let account = this.#accounts.get(inbox);
    if (account === undefined) {
      const { limits } = this.#context.settings;
      account = new Account(inbox, this.pool, limits, this.#total, () => this.drained());
      this.#accounts.set(inbox, account);
    } else account.silent = 0;
    return account;
  }
}

// A caller has one inbox, and each of its calls a token behind the last dot.
function inboxOf(reply: string): string {
  return reply.slice(0, Math.max(0, reply.lastIndexOf(".")));
}
