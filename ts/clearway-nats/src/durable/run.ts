// SPDX-License-Identifier: MIT OR Apache-2.0
import { headers, type NatsConnection } from "@nats-io/transport-node";
import type { StandardMessageCodec } from "clearway/channel";
import { ClearwayError, caused } from "clearway/remote";
import { timers } from "../clock.js";
import type { ServeContext } from "../options/serve.js";
import { decodeCall, encodeFailure, encodeResult, type WireCall, type WireCallOptions } from "../wire/call.js";
import type { Claims } from "./claims.js";
import { isOfServers, payloadBytesMaxOf } from "./connection.js";
import { type CallEnvelope, type Content, writeOutcome } from "./layout.js";
import type { Names } from "./names.js";
import { objectBytesMinOf, type ServeSettings } from "./options.js";
import type { Publisher } from "./publisher.js";
import type { Delivery } from "./puller.js";
import type { ResultWriter } from "./result-writer.js";
import { type Slots, WaitedTooLong } from "./slots.js";
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
  /** The threads of the local pool. A call that waits for one has not begun. */
  readonly threads: Slots;
  /** The calls that have a claim or ask for one: those that run, and those that begin soon. */
  readonly claiming: Slots;
  /** The memory of stored arguments, in bytes. */
  readonly memory: Slots;
  /** The claims and the counts that are taken back now, for calls that have not begun. */
  readonly withdrawals: Set<Promise<unknown>>;
  readonly values: Values;
  readonly writer: ResultWriter;
  readonly publisher: Publisher;
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
// The memory of stored arguments is in use for as long as a call runs, so a call that found none does not come again at once.
const memoryMs = 1_000;

const settling = [() => true, () => false] as const;

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
  #ran = false; // whether the task may have begun
  #given = false;
  #gaveUp = false;
  #release = (): void => {};
  readonly #runId = crypto.randomUUID();
  // Time in which the task may still run although the call has an outcome.
  #stopMs = 0;
  readonly #receivedMs = timers.nowMs();

  constructor(context: RunContext, envelope: CallEnvelope, delivery: Delivery) {
    this.#context = context;
    this.#envelope = envelope;
    this.#delivery = delivery;
    this.#controller = envelope.cancellable ? new AbortController() : undefined;
  }

  /** The delivery that the servers want to have confirmed. If they have lost its stream, another one is that of a new call with its id. */
  get delivery(): Delivery {
    return this.#delivery;
  }

  /** Runs the call. Never rejects. Resolves with false if the call was given back or will come again. */
  async work(): Promise<boolean> {
    const { counters, onError } = this.#context;
    try {
      const outcome = await this.#outcome();
      await this.#report(outcome);
      counters.answered++;
      if (this.#stopMs > 0) await new Promise((resolve) => timers.setTimeout(resolve, this.#stopMs));
      await this.#confirm();
      return true;
    } catch (reason) {
      if (!(reason instanceof GiveBack)) onError(reason);
      counters.givenBack++;
      await this.#uncount();
      // The servers may have made the streams again before they took the claim. A later call with this id would find it.
      if (this.#delivery.lost && !this.#ran) await this.#atLeisure(this.#withdraw());
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
    const { codec, settings, threads } = this.#context;
    // A call that would only wait needs no arguments and no claim.
    if (threads.stuck) throw new GiveBack(0, undefined);
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
    const { values, memory } = this.#context;
    values.check("a stored value", bytes);
    this.#release = await this.#slot(memory, 0, memoryMs, bytes);
    // A stored value that ends the process while it is read would otherwise end all processes, one by one.
    await this.#begin(undefined);
    return this.#servers(values.get(object, bytes, this.#controller?.signal));
  }

  async #run(call: WireCall): Promise<unknown> {
    const { threads, claiming, idempotent } = this.#context;
    const priority = call.options?.priority ?? 0;
    if (idempotent.has(call.task)) {
      const give = await this.#slot(threads, priority);
      try {
        await this.#begin(call.task);
        return await this.#runTask(call, true);
      } finally {
        give();
      }
    }
    const giveClaim = await this.#slot(claiming, priority);
    try {
      const give = await this.#claimedThread(call.task, priority);
      try {
        return await this.#runTask(call, false);
      } finally {
        give();
      }
    } finally {
      giveClaim();
    }
  }

  // Waits for a slot. Gives the call back if it waits for too long, or if the process closes.
  async #slot(slots: Slots, priority: number, delayMs = 0, weight = 1): Promise<() => void> {
    try {
      return await slots.take(priority, weight);
    } catch (reason) {
      throw new GiveBack(reason instanceof WaitedTooLong ? delayMs : 0, reason);
    }
  }

  // Claims the call, and waits for a thread. A call that waits for too long gives its claim back, so that another process can run it.
  async #claimedThread(task: string, priority: number): Promise<() => void> {
    const { threads } = this.#context;
    for (;;) {
      if (this.#delivery.lost) throw new GiveBack(0, undefined);
      await this.#claimCall(task);
      let refusal: unknown;
      try {
        return await threads.take(priority);
      } catch (reason) {
        refusal = reason;
      }
      const withdrawn = await this.#atLeisure(this.#withdraw());
      // Otherwise the claim may be there or not. This run has it, or takes it again, unless the process closes.
      if (!withdrawn && refusal instanceof WaitedTooLong) continue;
      this.#claim = undefined;
      throw new GiveBack(0, refusal);
    }
  }

  #withdraw(): Promise<void> {
    return this.#context.claims.withdraw(this.#envelope.id, this.#runId);
  }

  async #runTask({ task, args, options }: WireCall, idempotent: boolean): Promise<unknown> {
    const { settings } = this.#context;
    // Its caller knows that the call is lost. It has not begun.
    if (this.#delivery.lost) throw new GiveBack(0, undefined);
    const { call } = this.#pool(options);
    this.#ran = true;
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
    const waitedMs = timers.nowMs() - this.#receivedMs;
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
    const { before, revision } = await this.#servers(claims.countBeginning(this.#envelope.id));
    // The count is deleted like a claim.
    this.#claim = revision;
    this.#begun = before + 2;
    // Without an earlier count, only the servers' own number shows that the call has begun before.
    if (this.#begun > settings.tries && (before > 0 || deliveries > 1)) throw await this.#giveUp(task, undefined);
    counters.again++;
  }

  // A call that only waited here has not begun.
  async #uncount(): Promise<void> {
    if (!this.#counted || this.#ran || this.#delivery.lost) return;
    await this.#atLeisure(this.#context.claims.count(this.#envelope.id, this.#begun - 2));
  }

  // Waits for something that the servers may also not do. A process that closes waits for it, too.
  async #atLeisure(step: Promise<unknown>): Promise<boolean> {
    const { withdrawals } = this.#context;
    const settled = step.then(...settling).finally(() => withdrawals.delete(settled));
    withdrawals.add(settled);
    return settled;
  }

  // A task that is not idempotent begins once. The run that creates the claim may begin.
  async #claimCall(task: string): Promise<void> {
    const { claims, counters } = this.#context;
    const claim = await this.#servers(claims.take(this.#envelope.id, this.#runId));
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
    await this.#servers(publisher.publish(names.deadLetter(id), this.#delivery.body, { headers: facts }));
    counters.deadLetters++;
    this.#gaveUp = true;
    return caused(
      "dead-letter",
      `the call${task === undefined ? "" : ` of "${task}"`} was given up after ${settings.tries} runs without an outcome`,
      cause,
    );
  }

  async #content(bytes: Uint8Array): Promise<Content> {
    const { connection, settings, values } = this.#context;
    values.check("the outcome of the call", bytes.length);
    if (bytes.length < objectBytesMinOf(settings, payloadBytesMaxOf(connection))) return { bytes };
    return this.#servers(values.put(this.#envelope.id, bytes));
  }

  async #report(content: Content): Promise<void> {
    const { writer } = this.#context;
    const { id, caller, callback } = this.#envelope;
    const outcome = writeOutcome({ id, content });
    if (caller !== "") return this.#servers(writer.reply(caller, outcome));
    const first = await this.#servers(writer.store(id, outcome));
    if (callback !== "") await this.#servers(writer.notify(callback, first));
  }

  async #confirm(): Promise<void> {
    const { claims, values } = this.#context;
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
    if ("object" in this.#envelope.content && !this.#gaveUp) void values.delete(this.#envelope.content.object);
  }

  // Waits for the servers. Their errors say nothing about the call, so it is given back: it has no outcome, and runs when they take it.
  async #servers<Value>(waited: Promise<Value>): Promise<Value> {
    try {
      return await waited;
    } catch (reason) {
      if (!isOfServers(reason)) throw reason;
      const { code } = reason as ClearwayError;
      const away = code === "transport-closed" || code === "storage-lost";
      if (!away) this.#context.onError(reason);
      throw new GiveBack(away ? 0 : giveBackMsMax, reason);
    }
  }
}
