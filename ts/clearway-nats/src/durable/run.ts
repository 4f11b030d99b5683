// SPDX-License-Identifier: MIT OR Apache-2.0
import { headers, type NatsConnection } from "@nats-io/transport-node";
import type { StandardMessageCodec } from "clearway/channel";
import { ClearwayError, caused } from "clearway/remote";
import type { ServeContext } from "../serve/context.js";
import { decodeCall, encodeFailure, encodeResult, type WireCall, type WireCallOptions } from "../wire/call.js";
import type { ByteBudget } from "./byte-budget.js";
import type { Claims } from "./claims.js";
import { type CallEnvelope, type Content, writeOutcome } from "./layout.js";
import { isId, type Names } from "./names.js";
import type { ServeSettings } from "./options.js";
import { type Publisher, StoreError } from "./publisher.js";
import type { Delivery } from "./puller.js";
import type { ResultWriter } from "./result-writer.js";
import type { Slots } from "./slots.js";
import type { Values } from "./values.js";

/** Everything that a run of a call needs. */
export interface RunContext {
  readonly connection: NatsConnection;
  readonly module: string;
  readonly codec: StandardMessageCodec;
  readonly pool: ServeContext["pool"];
  /** The names of the module's tasks. */
  readonly tasks: ReadonlySet<string>;
  /** The tasks that may run again if an earlier run ended without an outcome. */
  readonly idempotent: ReadonlySet<string>;
  readonly onError: (error: unknown) => void;
  readonly settings: ServeSettings;
  readonly names: Names;
  readonly claims: Claims;
  /** The places of calls in the local pool. */
  readonly slots: Slots;
  readonly values: Values;
  /** The memory of stored arguments. */
  readonly budget: ByteBudget;
  readonly writer: ResultWriter;
  readonly publisher: Publisher;
  readonly objectBytesMin: number;
  /** Time in which the local pool ends a task that was cancelled, in milliseconds. */
  readonly stopMs: number;
  readonly counters: {
    answered: number;
    again: number;
    interrupted: number;
    deadLetters: number;
    givenBack: number;
  };
}

type Caller = (...args: unknown[]) => unknown;

// Errors of the local pool after which an idempotent task runs again: its worker has ended, and the call has no outcome.
const lost = new Set(["worker-crashed", "worker-exited", "out-of-memory", "worker-start-failed", "setup-failed"]);
// Errors of the local pool that say that this process ends. The call belongs to another one.
const leaving = new Set(["pool-closed", "pool-terminated"]);
// Errors of the local pool that come while the task may still run.
const early = new Set(["cancelled", "deadline", "timeout"]);
const failureBytesMax = 2 ** 18;
const giveBackMsMax = 5_000;

// Thrown to give a call back instead of answering it.
class GiveBack extends Error {
  constructor(
    readonly delayMs: number,
    cause: unknown,
  ) {
    super("the call is given back", { cause });
  }
}

// Returns the promise of a plain task. A stream has not begun yet, and never does. What the local pool returns before it knows its tasks is
// both.
async function promised(task: string, answer: unknown): Promise<unknown> {
  const { then, [Symbol.asyncIterator]: iterate } = answer as Partial<PromiseLike<unknown> & AsyncIterable<unknown>>;
  if (typeof then === "function" || typeof iterate !== "function") return answer;
  await (answer as AsyncIterator<unknown>).return?.();
  throw new ClearwayError("invalid-argument", `the task "${task}" is a stream, which durable mode cannot call`);
}

/**
 * One run of a call in this process: claim, arguments, task, outcome, confirmation. The order of these steps is the guarantee: the call is
 * claimed before its task begins, and it leaves the queue only after its outcome is stored.
 */
export class Run {
  readonly #context: RunContext;
  readonly #envelope: CallEnvelope;
  // Undefined for a call that its caller cannot cancel. A signal costs more than everything else that the local pool does for a short call.
  readonly #controller: AbortController | undefined;
  #delivery: Delivery;
  #claim: number | undefined;
  // Number of this beginning of the call, among those that are counted.
  #begun = 1;
  #counted = false;
  #given = false;
  #gaveUp = false;
  #release = (): void => {};
  // Time in which the task may still run although the call has an outcome.
  #stopMs = 0;
  readonly #receivedMs = performance.now();

  constructor(context: RunContext, envelope: CallEnvelope, delivery: Delivery) {
    this.#context = context;
    this.#envelope = envelope;
    this.#delivery = delivery;
    this.#controller = envelope.cancellable ? new AbortController() : undefined;
  }

  /** Place of the call in the queue's stream. */
  get seq(): number {
    return this.#delivery.seq;
  }

  /** Runs the call. Never rejects. Resolves with false if the call was given back or will come again. */
  async work(): Promise<boolean> {
    const { counters, onError } = this.#context;
    try {
      const outcome = await this.#outcome();
      await this.#report(outcome);
      counters.answered++;
      if (this.#stopMs > 0) await new Promise((resolve) => setTimeout(resolve, this.#stopMs));
      await this.#confirm();
      return true;
    } catch (reason) {
      if (!(reason instanceof GiveBack)) onError(reason);
      counters.givenBack++;
      this.#given = true;
      this.#delivery.giveBack(reason instanceof GiveBack ? reason.delayMs : giveBackMsMax);
      return false;
    } finally {
      this.#release();
    }
  }

  /** Tells the servers that the call is still in work. */
  working(): void {
    if (!this.#given) this.#delivery.working();
  }

  /** Takes another delivery of the same call, whose confirmation the servers now wait for. */
  deliveredAgain(delivery: Delivery): void {
    this.#delivery = delivery;
    if (!this.#given) delivery.working();
  }

  /** Cancels the task. */
  cancel(): void {
    this.#controller?.abort(new ClearwayError("cancelled", "the caller has cancelled the call"));
  }

  // Returns the encoded outcome of the call. Throws `GiveBack` if the call has none in this process.
  async #outcome(): Promise<Content> {
    const { codec, settings } = this.#context;
    try {
      const value = await this.#run(await this.#call());
      return await this.#content(encodeResult(codec, value));
    } catch (thrown) {
      if (thrown instanceof GiveBack) throw thrown;
      return this.#content(encodeFailure(codec, thrown, Math.min(failureBytesMax, settings.valueBytesMax)));
    }
  }

  async #call(): Promise<WireCall> {
    const { codec, tasks } = this.#context;
    const { content } = this.#envelope;
    const bytes = "bytes" in content ? content.bytes : await this.#stored(content.object, content.objectBytes);
    const call = decodeCall(codec, bytes, true);
    if (!tasks.has(call.task)) {
      throw new ClearwayError("unknown-task", `the module ${this.#context.module} exposes no task "${call.task}"`);
    }
    if (call.options?.inputs) throw new ClearwayError("invalid-argument", "durable mode takes no streams as arguments");
    return call;
  }

  // Reads arguments that are too large for a message. They have their memory until the run has ended.
  async #stored(object: string, bytes: number): Promise<Uint8Array> {
    const { values, budget } = this.#context;
    values.check("a stored value", bytes);
    this.#release = await budget.take(bytes);
    // A stored value that ends the process while it is read would otherwise end all processes, one by one.
    await this.#begin(undefined);
    return this.#servers(values.get(object, bytes, this.#controller?.signal));
  }

  async #run({ task, args, options }: WireCall): Promise<unknown> {
    const { slots, idempotent } = this.#context;
    try {
      await slots.take(options?.priority ?? 0);
    } catch (reason) {
      throw new GiveBack(0, reason);
    }
    try {
      const again = idempotent.has(task);
      if (again) await this.#begin(task);
      else await this.#claimCall(task);
      return await this.#runTask({ task, args, options }, again);
    } finally {
      slots.give();
    }
  }

  async #runTask({ task, args, options }: WireCall, idempotent: boolean): Promise<unknown> {
    const { settings } = this.#context;
    const { call } = this.#pool(options);
    try {
      return await promised(task, (call as Readonly<Record<string, Caller>>)[task]!(...args));
    } catch (thrown) {
      const code = thrown instanceof ClearwayError ? thrown.code : "";
      // The confirmation lets the partition go on.
      if (options?.key !== undefined && early.has(code)) this.#stopMs = this.#context.stopMs;
      if (leaving.has(code)) throw new GiveBack(0, thrown);
      if (!idempotent || !lost.has(code)) throw thrown;
      if (this.#begun >= settings.tries) throw await this.#giveUp(task, thrown);
      throw new GiveBack(Math.min(giveBackMsMax, 50 * 2 ** this.#begun), thrown);
    }
  }

  // Returns the local pool's tasks with the options of this call.
  #pool(options: WireCallOptions | undefined): { readonly call: object } {
    const { pool } = this.#context;
    // The pool keeps a function for each name. Only the names of the module's tasks come here.
    if (options === undefined && this.#controller === undefined) return pool;
    const { timeoutMs, deadlineMs, key, priority } = options ?? {};
    const waitedMs = performance.now() - this.#receivedMs;
    return pool.with({
      ...(this.#controller && { signal: this.#controller.signal }),
      ...(timeoutMs !== undefined && { timeoutMs }),
      ...(deadlineMs !== undefined && { deadlineMs: Math.max(0, deadlineMs - waitedMs) }),
      ...(key !== undefined && { key }),
      ...(priority !== undefined && { priority }),
    });
  }

  // An idempotent task may begin `tries` times, and so may the reading of a stored value. The first beginning is not counted, so that a call
  // which ends at once costs nothing more.
  async #begin(task: string | undefined): Promise<void> {
    const { claims, counters, settings } = this.#context;
    const { again, deliveries } = this.#delivery;
    if (!again || this.#counted) return;
    this.#counted = true;
    const before = await this.#servers(claims.countBeginning(this.#envelope.id));
    this.#begun = before + 2;
    // Without an earlier count, only the servers' own number shows that the call has begun before.
    if (this.#begun > settings.tries && (before > 0 || deliveries > 1)) throw await this.#giveUp(task, undefined);
    counters.again++;
  }

  // A task that is not idempotent begins once. The run that creates the claim may begin.
  async #claimCall(task: string): Promise<void> {
    const { claims, counters } = this.#context;
    const run = crypto.randomUUID();
    const claim = await this.#servers(claims.take(this.#envelope.id, run));
    if (claim.taken) {
      this.#claim = claim.revision;
      return;
    }
    counters.interrupted++;
    throw new ClearwayError(
      "interrupted",
      `a run of the call ended without an outcome, or has not ended, and the task "${task}" is not marked as idempotent`,
    );
  }

  // Puts the call into the dead-letter stream. Returns the error for its caller.
  async #giveUp(task: string | undefined, cause: unknown): Promise<ClearwayError> {
    const { publisher, names, settings, counters } = this.#context;
    const { id } = this.#envelope;
    const facts = headers();
    facts.set("Nats-Msg-Id", id);
    if (task !== undefined) facts.set("Clearway-Task", encodeURIComponent(task));
    facts.set("Clearway-Deliveries", String(this.#delivery.deliveries));
    await this.#servers(publisher.publish(names.deadLetter(id), this.#delivery.body, facts));
    counters.deadLetters++;
    this.#gaveUp = true;
    return caused(
      "dead-letter",
      `the call${task === undefined ? "" : ` of "${task}"`} was given up after ${settings.tries} runs without an outcome`,
      cause,
    );
  }

  async #content(bytes: Uint8Array): Promise<Content> {
    const { values, objectBytesMin } = this.#context;
    values.check("the outcome of the call", bytes.length);
    if (bytes.length < objectBytesMin) return { bytes };
    return this.#servers(values.put(this.#envelope.id, bytes));
  }

  async #report(content: Content): Promise<void> {
    const { writer, onError } = this.#context;
    const { id, caller, callback } = this.#envelope;
    const outcome = writeOutcome({ id, content });
    try {
      if (caller !== "") return await this.#servers(writer.reply(caller, outcome));
      const first = await this.#servers(writer.store(id, outcome));
      if (callback !== "" && this.#allows(callback)) await this.#servers(writer.notify(callback, first));
    } catch (reason) {
      // The servers refuse the outcome, for example because their disk is full. A call that was given up must leave the queue all the same.
      if (!(this.#gaveUp && reason instanceof StoreError)) throw reason;
      onError(reason);
    }
  }

  // A caller could otherwise publish to any subject with this process's permissions.
  #allows(subject: string): boolean {
    const { settings, onError } = this.#context;
    const tokens = subject.split(".");
    if (tokens.every(isId) && settings.callbacks.some((each) => subject.startsWith(each))) return true;
    onError(new ClearwayError("invalid-argument", `the callback subject is not allowed: callback=${subject}`));
    return false;
  }

  async #confirm(): Promise<void> {
    const { claims, values } = this.#context;
    const { content } = this.#envelope;
    if (this.#claim === undefined) this.#delivery.ack();
    else {
      try {
        await this.#delivery.confirmedAck();
        claims.release(this.#claim);
      } catch {
        // The call may come again. Its claim remains and answers it.
      }
    }
    // The dead-letter stream refers to the object of a call that was given up.
    if ("object" in content && !this.#gaveUp) void values.delete(content.object);
  }

  // Waits for the servers. Gives the call back when the connection has ended.
  async #servers<Value>(waited: Promise<Value>): Promise<Value> {
    try {
      return await waited;
    } catch (reason) {
      if (reason instanceof ClearwayError && reason.code === "transport-closed") throw new GiveBack(0, reason);
      throw reason;
    }
  }
}
