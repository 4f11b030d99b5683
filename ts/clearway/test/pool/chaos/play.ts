// SPDX-License-Identifier: MIT OR Apache-2.0
import { type CallOptions, move, type Pool, type PoolOptions, pool } from "clearway";
import type { Mark } from "../../fixtures/chaos.tasks.js";
import { bytesOf, expectEnding, expectOutcome, expectSeen } from "./expect.js";
import { callbackOf, callsOf, expectAsked, expectBroadcast, expectMapped, type MapCommand } from "./many.js";
import type { Command, Plan, PlanOptions } from "./plan.js";
import { movedLength, read, type Seen, Source } from "./source.js";
import { type Outcome, Watch } from "./watch.js";

type Chaos = typeof import("../../fixtures/chaos.tasks.js");
type AnyAnswer = Partial<PromiseLike<unknown>> & Partial<AsyncIterableIterator<unknown>>;

// Longer than all limits and worker starts on a slow machine.
const patienceMs = 12_000;

/** The parts that differ between hosts: what may be left behind, and how to detect it. */
export interface Surroundings {
  url: URL;
  poolOptions?: PoolOptions;
  /** Returns the number of abort listeners on a signal. */
  listeners(signal: AbortSignal): number;
  /** Settles when no worker is left. Throws when some are. */
  noWorkerLeft(): Promise<void>;
  /** Returns the uncaught errors since the last call. */
  stray(): Promise<unknown[]>;
  /** Time limit of a call that never ends by itself. Default 10. */
  forcedTimeoutMs?: number;
  /** Time after which an unsettled promise counts as hanging. A wait for a worker's start has at least the default. */
  watchMs?: number;
}

/** Plays a plan, and checks everything that must be true afterwards. Throws a list of the failures. */
export async function play(plan: Plan, surroundings: Surroundings): Promise<void> {
  const player = new Player(plan, surroundings);
  try {
    await player.play();
  } finally {
    await player.pool.terminate();
  }
}

class Player {
  readonly pool: Pool<Chaos>;
  readonly #watch = new Watch();
  readonly #watchMs: number;
  readonly #complaints: string[] = [];
  readonly #cells: Int32Array | undefined;
  readonly #aborts = [0, 1, 2].map((which) => new Abort(which));
  readonly #sources: Source[] = [];
  readonly #left: { stream: AsyncIterableIterator<unknown>; reading: Promise<unknown> }[] = [];
  /** Bytes in the arguments of all calls that were made, and of those that returned. */
  #asked = 0;
  #reached = 0;
  /** Bytes that the caller received. */
  #given = 0;
  /** Whether nothing failed and nothing was cancelled or left. */
  #clean = true;

  constructor(
    readonly plan: Plan,
    readonly surroundings: Surroundings,
  ) {
    const { size, concurrency, queueItems: items, whenFull, metrics, recycleTasks: tasks } = plan;
    this.pool = pool<Chaos>(surroundings.url, {
      size,
      concurrency,
      metrics,
      queue: { items, whenFull },
      recycle: { tasks },
      graceMs: 20,
      ...surroundings.poolOptions,
    });
    this.#watchMs = surroundings.watchMs ?? patienceMs;
    if (typeof SharedArrayBuffer === "function" && !surroundings.poolOptions?.processes) {
      this.#cells = new Int32Array(new SharedArrayBuffer(4 * Math.max(1, plan.commands.length)));
    }
  }

  async play(): Promise<void> {
    const { plan, pool } = this;
    if (plan.warm) await this.#ready();
    for (const [at, command] of plan.commands.entries()) await this.#do(command, at);
    // Streams that a reader left are read no further. With `drain` they are ended here; otherwise the pool's end must end them.
    if (plan.ending === "close") void this.#watch.follow("close()", pool.close({ timeoutMs: 20 }));
    else if (plan.ending === "terminate") void this.#watch.follow("terminate()", pool.terminate());
    for (const { stream, reading } of this.#left) {
      void this.#watch.follow(
        "return() of a stream that was left",
        reading.then(() => stream.return!()),
      );
    }
    await this.#watch.all(this.#watchMs);
    const closed = new Watch();
    void closed.follow("the last close()", pool.close());
    // A source is closed after its call has ended, or later, after its pending value.
    for (const source of this.#sources) {
      if (source.open) void closed.follow(`closing of a source that is ${source.kind}`, source.closed);
    }
    await closed.all(this.#watchMs);
    await this.#inspect();
    if (this.#complaints.length > 0) throw new Error(this.#complaints.join("\n"));
  }

  async #do(command: Command, at: number): Promise<void> {
    switch (command.do) {
      case "call":
        return this.#call(command, at);
      case "stream":
      case "twoWay":
        return this.#stream(command, at);
      case "map":
        return this.#map(command, at);
      case "broadcast":
        return this.#broadcast(command, at);
      case "callback":
        return this.#callback(command, at);
      case "abort":
        return this.#aborts[command.signal]!.abort();
      case "pause":
        if (command.how === "ready") await this.#ready();
        else if (command.how === "microtask") await undefined;
        else await new Promise((resolve) => setTimeout(resolve, command.how === "ms" ? 5 : 0));
        return;
      case "ping":
        // A ping waits behind a task that blocks its thread. Such a task is ended by its limit.
        void this.#watch.follow(`${at} ping()`, this.pool.ping());
        return;
      case "room":
        void this.#watch.follow(`${at} room()`, this.pool.room());
        return;
      case "advise":
        void this.#watch.follow(`${at} advise()`, this.pool.advise());
        return;
      case "close":
        void this.#watch.follow(`${at} close()`, this.pool.close({ timeoutMs: command.timeoutMs }));
        return;
      case "terminate":
        void this.#watch.follow(`${at} terminate()`, this.pool.terminate());
    }
  }

  async #ready(): Promise<void> {
    const watch = new Watch();
    void watch.follow("ready()", this.pool.ready());
    await watch.all(Math.max(this.#watchMs, patienceMs));
  }

  #call(command: Extract<Command, { do: "call" }>, at: number): void {
    const name = `${at} ${command.task}(${command.n})`;
    const bytes = bytesOf(command);
    const args: unknown[] = [this.#mark(at), ...argumentsOf(command)];
    const answer = this.#submit(aliases[command.task] ?? command.task, args, command, at);
    this.#asked += bytes;
    const settled = this.#watch.follow(name, answer as PromiseLike<unknown>);
    const cold = Symbol.asyncIterator in answer;
    if (cold && command.misuse === "return") void this.#watch.follow(`${name}.return()`, answer.return!());
    if (cold && command.misuse === "iterate") void this.#watch.follow(`${name}.next()`, answer.next!());
    void settled.then((outcome) => {
      this.#settledCall(outcome, bytes);
      this.#complain(name, expectOutcome(command, outcome, this.plan, cold, this.#aborts));
      if ("ok" in outcome && outcome.ok instanceof Uint8Array) this.#given += outcome.ok.byteLength;
    });
  }

  #stream(command: Extract<Command, { do: "stream" | "twoWay" }>, at: number): void {
    const args: unknown[] = [this.#mark(at)];
    let source: Source | undefined;
    if (command.do === "stream") args.push(command.n, command.length);
    else {
      source = new Source(command.source, command.n);
      this.#sources.push(source);
      args.push(source);
    }
    const name = `${at} ${command.task}(${command.n}) read "${command.read}"`;
    const answer = this.#submit(command.task, args, command, at);
    if (command.task === "countOf" || command.task === "firstOf" || command.task === "ignores") {
      const cold = Symbol.asyncIterator in answer;
      void this.#watch.follow(name, answer as PromiseLike<unknown>).then((outcome) => {
        this.#settledCall(outcome, 0);
        this.#complain(name, expectOutcome(command, outcome, this.plan, cold, this.#aborts));
      });
      return;
    }
    // A call of a cold pool may still be a task without a stream, so it is also a promise, which must settle.
    if (typeof answer.then === "function")
      void this.#watch.follow(`${name}: its promise`, answer as PromiseLike<unknown>);
    const stream = answer as AsyncIterableIterator<unknown>;
    const reading = read(stream, command.read, command.after);
    if (command.read === "leave") this.#left.push({ stream, reading });
    void this.#watch.follow(name, reading).then((outcome) => {
      const seen = (outcome as { ok: Seen }).ok;
      this.#clean &&= seen.end !== undefined && seen.error === undefined;
      for (const value of seen.values) {
        if (!(value instanceof Uint8Array)) continue;
        this.#given += value.byteLength;
        if (source !== undefined) this.#reached += value.byteLength;
      }
      this.#complain(name, expectSeen(command, seen, this.plan, this.#aborts));
    });
  }

  #map(command: MapCommand, at: number): void {
    const { task, n, count, read: how, after, ordered, concurrency } = command;
    const name = `${at} map of ${count} ${task}(${n}) read "${how}"`;
    this.#clean = false;
    const { map } = this.pool.with(this.#options(command.options, true));
    const marks = Array.from({ length: count }, () => this.#mark(at));
    const mapper = (map as unknown as Record<string, (inputs: Mark[], options: object) => Mapped>)[task]!;
    const stream = mapper(marks, { args: [n], ordered, concurrency });
    const reading = how === "await" ? awaited(stream) : read(stream, how, after);
    if (how === "leave") this.#left.push({ stream, reading });
    void this.#watch.follow(name, reading).then((outcome) => {
      this.#complain(name, expectMapped(command, (outcome as { ok: Seen }).ok, this.plan, this.#aborts));
    });
  }

  #broadcast(command: Extract<Command, { do: "broadcast" }>, at: number): void {
    const name = `${at} broadcast of ${command.task}(${command.n})`;
    this.#clean = false;
    const { broadcast } = this.pool.with(this.#options(command.options, true));
    const caller = (broadcast as unknown as Record<string, (...args: unknown[]) => Promise<unknown>>)[command.task]!;
    void this.#watch.follow(name, caller(this.#mark(at), command.n)).then((outcome) => {
      this.#complain(name, expectBroadcast(command, outcome, this.plan, this.#aborts));
    });
  }

  #callback(command: Extract<Command, { do: "callback" }>, at: number): void {
    const name = `${at} asks(${command.n}) of a callback that ${command.deeds.join(", ")}`;
    this.#clean = false;
    const tell = callbackOf(command, (promise) => void this.#watch.follow(`${name}: its promise`, promise));
    const answer = this.#submit("asks", [this.#mark(at), command.n, tell], command, at);
    void this.#watch.follow(name, answer as PromiseLike<unknown>).then((outcome) => {
      this.#complain(name, expectAsked(command, outcome, this.plan, this.#aborts));
    });
  }

  #submit(task: string, args: unknown[], command: { options: PlanOptions } & Command, at: number): AnyAnswer {
    const callers = this.pool.with(this.#options(command.options, expectEnding(command))).call;
    const caller = (callers as unknown as Record<string, (...args: unknown[]) => AnyAnswer>)[task]!;
    try {
      return caller(...args);
    } catch (reason) {
      // A call reports a failure only by its answer, never by an exception.
      this.#complain(`${at} ${task}`, `threw ${String(reason)}`);
      return Promise.resolve();
    }
  }

  #options(options: PlanOptions, ends: boolean): CallOptions {
    const { signal, windowItems, progress, ...plain } = options;
    return {
      ...plain,
      ...(!ends &&
        plain.timeoutMs === undefined &&
        plain.deadlineMs === undefined && { timeoutMs: this.surroundings.forcedTimeoutMs ?? 10 }),
      ...(signal !== undefined && { signal: this.#aborts[signal]!.signal }),
      ...(windowItems !== undefined && { window: { items: windowItems } }),
      ...(progress !== undefined && {
        onProgress: () => {
          if (progress === "throw") throw new ListenerError("the listener threw");
        },
      }),
    };
  }

  #mark(at: number): Mark {
    return { cells: this.#cells, at };
  }

  #settledCall(outcome: Outcome, bytes: number): void {
    if ("ok" in outcome) this.#reached += bytes;
    else this.#clean = false;
  }

  #complain(name: string, what: string | undefined): void {
    if (what !== undefined) this.#complaints.push(`${name}: ${what}`);
  }

  async #inspect(): Promise<void> {
    const { plan, surroundings } = this;
    await surroundings.noWorkerLeft();
    for (const reason of await surroundings.stray()) this.#complain("nobody caught", describe(reason));
    for (const { signal, which } of this.#aborts) {
      const count = surroundings.listeners(signal);
      if (count > 0) this.#complain(`signal ${which}`, `${count} listeners are left`);
    }
    const { open, queue, workers, tasks, ledger } = this.pool.stats();
    this.#equal("open calls", open, 0);
    this.#equal("calls in the queue", queue.items, 0);
    this.#equal("bytes in the queue", queue.bytes, 0);
    this.#equal("workers", workers.size, 0);
    for (const [name, { calls, ok, failed, cancelled }] of Object.entries(tasks)) {
      this.#equal(`calls of ${name}, by outcome`, ok + failed + cancelled, calls);
    }
    this.#cells?.forEach((runs, at) => {
      const command = plan.commands[at];
      const most =
        command !== undefined && "options" in command
          ? callsOf(command, plan) * (1 + (command.options.retries ?? 0))
          : 0;
      if (runs > most) this.#complain(`${at}`, `ran ${runs} times, ${most} at most was asked for`);
    });
    const drawn = this.#sources.filter((each) => each.kind === "moved").reduce((sum, each) => sum + each.drawn, 0);
    const asked = this.#asked + drawn * movedLength;
    this.#ledger("from workers", ledger.fromWorkers, this.#given, Number.POSITIVE_INFINITY, this.#given);
    // Arguments of calls that had not started when their worker died are copied again, for another worker.
    const repeated = workers.restarts > 0;
    this.#clean &&= !repeated && this.#sources.every((each) => each.whole || each.drawn === 0);
    this.#ledger("to workers", ledger.toWorkers, this.#reached, repeated ? Number.POSITIVE_INFINITY : asked, asked);
  }

  #ledger(way: string, side: { movedBytes: number; copiedBytes: number }, least: number, most: number, clean: number) {
    const bytes = side.movedBytes + side.copiedBytes;
    if (bytes < least || bytes > most) this.#complain(`ledger ${way}`, `${bytes} is not within ${least} and ${most}`);
    if (this.#clean) this.#equal(`ledger ${way}`, bytes, clean);
  }

  #equal(what: string, is: number, should: number): void {
    if (is !== should) this.#complain(what, `is ${is}, should be ${should}`);
  }
}

/** An abort controller of a plan, with a unique reason. */
export class Abort {
  readonly #controller = new AbortController();
  readonly reason: object;

  constructor(readonly which: number) {
    this.reason = { abort: which };
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  abort(): void {
    this.#controller.abort(this.reason);
  }
}

// Tasks of a plan that call another task of the module in a special way.
const aliases: Readonly<Record<string, string>> = { lengthOfMoved: "lengthOf", badArgument: "swallow" };

class ListenerError extends Error {
  override readonly name = "ListenerError";
}

type Mapped = AsyncIterableIterator<unknown> & PromiseLike<unknown[]>;

/** Awaits a mapping as an array. Never rejects. */
async function awaited(results: PromiseLike<unknown[]>): Promise<Seen> {
  try {
    return { values: [...(await results)], end: { value: undefined }, error: undefined };
  } catch (reason) {
    return { values: [], end: undefined, error: { reason } };
  }
}

function argumentsOf({ task, n }: Extract<Command, { do: "call" }>): unknown[] {
  if (task === "bytes" || task === "part") return [n * 1000];
  if (task === "lengthOf") return [new Uint8Array(n * 1000)];
  if (task === "lengthOfMoved") return [move(new Uint8Array(n * 100_000))];
  if (task === "swallow") return [{ deep: [new Map([["bytes", new Uint8Array(n * 10)]])] }];
  if (task === "badArgument") return [[() => n, Symbol("odd"), { deep: () => 1 }, new WeakMap()][n % 4]];
  return [n];
}

function describe(reason: unknown): string {
  return reason instanceof Error ? (reason.stack ?? String(reason)) : String(reason);
}
