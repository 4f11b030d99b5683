// SPDX-License-Identifier: MIT OR Apache-2.0
import type { ChildProcess } from "node:child_process";
import type { Duplex, Readable } from "node:stream";
import { messageOf } from "../../error/clearway-error.js";
import { decodeError } from "../../error/wire.js";
import { isWireError } from "../../error/wire-check.js";
import { OwnPromise, setImmediate } from "../../globals.js";
import type { SpawnOptions, WorkerEvents, WorkerHandle } from "../host.js";
import { ChildErrors, explainError, explainExit, withoutFrames } from "./errors.js";
import { processEnvironment, processFlags } from "./options.js";
import { pipe } from "./output.js";
import {
  decodeMessage,
  encodeMessage,
  lifePipe,
  ProcessMessage,
  type ProcessOrders,
  postCopy,
} from "./process-messages.js";
import { libraryFile, type Start, taskUrl } from "./task-module.js";

/** A worker that may keep the process alive. */
export interface Referenced {
  ref(): void;
  unref(): void;
  /** Asks the worker for its printed output. The worker's reply must lead to a call of {@link Release.flushed}. May throw. */
  flush(): void;
}

/** Decides when a worker keeps the process alive: while it has work, and until its printed output has arrived. */
export interface Release {
  setRef(on: boolean): void;
  /** Records that the worker has printed. */
  printed(): void;
  /** Handles the worker's reply to `flush`. The worker's last lines may have been in flight when it answered its last call. */
  flushed(): void;
  /** Records that the worker has ended. */
  end(): void;
}

// Child processes that have not ended. A thread ends with its process. A child process that blocks would not notice the end of its parent.
const living = new Set<ChildProcess>();
const endAll = (): void => {
  for (const child of living) child.kill("SIGKILL");
};

/**
 * Starts a worker as a child process and returns at once. Throws if the child's first message cannot be copied, or if a bundler has put the
 * library into the app's own files.
 */
export function spawnProcess(
  start: Start,
  options: SpawnOptions,
  events: WorkerEvents,
  releaseOf: (worker: Referenced) => Release,
): WorkerHandle {
  const { name, settings } = options;
  const orders: ProcessOrders = {
    url: taskUrl(start),
    start: start.orders,
    name,
    greeting: withoutSharedMemory(options.greeting),
    workerData: settings.workerData,
  };
  const first = encodeMessage(ProcessMessage.Start, orders);
  const { fork } = process.getBuiltinModule("node:child_process");
  const env = processEnvironment(settings);
  const child = fork(childFile(), [...(settings.argv ?? [])], {
    execArgv: processFlags(settings),
    ...(env && { env }),
    serialization: "advanced",
    stdio: ["ignore", "pipe", "pipe", "ipc", "pipe"],
  });
  return new ProcessWorker(child, start, options, events, releaseOf).begin(first);
}

function childFile(): string {
  const file = libraryFile("child.mjs");
  if (file !== undefined) return file;
  throw new TypeError(
    "a worker that is a child process needs the files of the library: leave the package clearway out of the bundle (external)",
  );
}

// The greeting offers shared memory, which only threads can use.
function withoutSharedMemory(greeting: unknown): unknown {
  return { ...(greeting as object), ring: false, cancelCells: undefined };
}

// Number of turns in which the last messages and output of an ended child are read. The pipes hold what a few turns read; a process that the
// child has started may write to them for ever.
const turnsAfterExit = 100;

/** A worker that is a child process, seen from the process that started it. */
class ProcessWorker implements WorkerHandle {
  readonly greeted = true;
  readonly #child: ChildProcess;
  readonly #start: Start;
  readonly #settings: SpawnOptions["settings"];
  readonly #events: WorkerEvents;
  readonly #release: Release;
  readonly #errors = new ChildErrors();
  readonly #gone: Promise<void>;
  #resolveGone!: () => void;
  /** Whether a message of the worker has arrived. */
  #heard = false;
  #ended = false;
  /** The error that ends the worker. Reported after its last messages. */
  #uncaught: { reason: unknown } | undefined;
  /** Number of messages and pieces of output that have arrived. */
  #arrivals = 0;

  constructor(
    child: ChildProcess,
    start: Start,
    { settings }: SpawnOptions,
    events: WorkerEvents,
    releaseOf: (worker: Referenced) => Release,
  ) {
    this.#child = child;
    this.#start = start;
    this.#settings = settings;
    this.#events = events;
    this.#gone = new OwnPromise((resolve) => {
      this.#resolveGone = resolve;
    });
    this.#release = releaseOf({
      ref: () => this.#each((part) => part.ref()),
      unref: () => this.#each((part) => part.unref()),
      flush: () => this.#send(encodeMessage(ProcessMessage.Flush, undefined)),
    });
  }

  /** Listens to the child and sends it its orders. */
  begin(first: object): this {
    const child = this.#child;
    if (living.size === 0) process.on("exit", endAll);
    living.add(child);
    this.#read(child.stdout, this.#settings.stdout ?? process.stdout);
    this.#read(child.stderr, this.#settings.stderr ?? process.stderr, (bytes) => this.#errors.add(bytes));
    child.on("message", (message) => this.#received(message));
    // The child never writes to it.
    this.#life?.on("error", () => {});
    child.once("exit", (code, signal) => void this.#exited(signal ?? code ?? undefined));
    child.on("error", (reason) => {
      // If the process could not be started, no `exit` follows. Any other error is one of `kill` or of the channel, which an exit follows.
      if (child.pid !== undefined) return;
      this.#uncaught = { reason };
      void this.#exited(undefined);
    });
    this.#send(first);
    return this;
  }

  post(message: unknown, transfer: readonly object[]): void {
    postCopy((envelope) => this.#send(envelope), message, transfer);
  }

  /** Kills the process. A signal that it could handle would not end a process that blocks. */
  terminate(): Promise<void> {
    if (!this.#ended) this.#child.kill("SIGKILL");
    return this.#gone;
  }

  /** Ends the channel, upon which the child calls `process.exit()`. */
  leave(): Promise<void> {
    if (this.#child.connected) this.#child.disconnect();
    return this.#gone;
  }

  setRef(on: boolean): void {
    this.#release.setRef(on);
  }

  // Writes never block. Node queues what the channel's pipe cannot take. The queue is bounded: a worker has at most `concurrency` calls, and
  // the values of streams, progress and callbacks need credit.
  #send(message: object): void {
    // The callback receives the error of a channel that has closed. The child's exit follows.
    if (this.#child.connected) this.#child.send(message, () => {});
  }

  #received(message: unknown): void {
    this.#arrivals++;
    let decoded: ReturnType<typeof decodeMessage>;
    try {
      decoded = decodeMessage(message);
    } catch {
      return this.#events.messageError(true);
    }
    if (decoded === undefined) return;
    const [kind, content] = decoded;
    if (kind === ProcessMessage.Posted) {
      this.#heard = true;
      this.#events.message(content);
    } else if (kind === ProcessMessage.Uncaught)
      this.#uncaught = { reason: isWireError(content) ? decodeError(content) : content };
    else void this.#quiet().then(() => this.#release.flushed());
  }

  #read(from: Readable | null, to: { write(bytes: Uint8Array): unknown }, also?: (bytes: Uint8Array) => void): void {
    if (!from) return;
    from.on("data", (bytes: Uint8Array) => {
      this.#arrivals++;
      this.#release.printed();
      also?.(bytes);
    });
    // The pipe may break when the child is killed. Its exit is reported in any case.
    from.on("error", () => {});
    pipe(from, to, this.#settings);
  }

  // Settles when everything that the child has written before has arrived: when nothing more arrives in a whole turn of the event loop. What
  // the child has written is in the pipes. Does not wait for the pipes' ends, because a process that the child has started may hold them.
  async #quiet(turnsMax = Number.POSITIVE_INFINITY): Promise<void> {
    await turn();
    for (let before = -1, turns = 0; before !== this.#arrivals && turns < turnsMax; turns++) {
      before = this.#arrivals;
      await turn();
    }
  }

  async #exited(how: number | string | undefined): Promise<void> {
    if (this.#ended) return;
    this.#ended = true;
    const child = this.#child;
    living.delete(child);
    if (living.size === 0) process.off("exit", endAll);
    await this.#quiet(turnsAfterExit);
    this.#release.end();
    child.removeAllListeners();
    child.on("error", () => {});
    for (const stream of [child.stdout, child.stderr, this.#life]) stream?.destroy();
    if (child.connected) child.disconnect();
    const uncaught = this.#uncaught ?? this.#errors.outOfMemory(how);
    if (uncaught) this.#reportError(uncaught.reason);
    this.#reportExit(how);
    this.#resolveGone();
  }

  #reportError(reason: unknown): void {
    if (this.#heard) return this.#events.error(reason);
    // A process that did not start has run no module.
    const what = explainError(reason, this.#start) ?? (this.#child.pid === undefined ? messageOf(reason) : undefined);
    withoutFrames(() => this.#events.error(reason, what));
  }

  #reportExit(how: number | string | undefined): void {
    if (this.#heard) return this.#events.exit(how);
    const what = this.#errors.explain(how, explainExit(this.#start));
    withoutFrames(() => this.#events.exit(how, what));
  }

  // The pipe whose end tells the child that this thread is gone.
  get #life(): Duplex | undefined {
    return this.#child.stdio[lifePipe] as Duplex | undefined;
  }

  #each(act: (part: { ref(): unknown; unref(): unknown }) => unknown): void {
    const { channel, stdout, stderr } = this.#child;
    for (const part of [this.#child, channel, stdout, stderr, this.#life]) {
      // The output's pipes are sockets.
      if (part) act(part as unknown as { ref(): unknown; unref(): unknown });
    }
  }
}

const turn = (): Promise<void> => new OwnPromise((resolve) => setImmediate(resolve));
