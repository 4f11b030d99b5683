// SPDX-License-Identifier: MIT OR Apache-2.0

// The contract for everything that differs between Node and browsers. `#host` resolves to `node.ts` or `browser.ts` when the package is
// built. All other code of the library is the same for both.

/** Receives the data of a message. */
export type OnMessage = (message: unknown) => void;

/** One end of a connection between two threads. Posts messages as structured clones, in order. */
export interface Endpoint {
  /**
   * Posts a copy of `message` and moves the objects in `transfer`. Throws `DataCloneError` if a value cannot be cloned or moved. In that
   * case nothing was moved, with the one exception that `port.ts` describes.
   */
  post(message: unknown, transfer: readonly object[]): void;
}

/** The exit code of a worker, or the name of the signal that ended its process. Undefined if the host has no exit codes. */
export type ExitCode = number | string | undefined;

/** The events of a worker, for the thread that started it. `exit` is called exactly once, as the last event. */
export interface WorkerEvents {
  message: OnMessage;
  /**
   * Called when a message arrived that this thread could not read. If `sure` is false, the message may instead be a `null` that the task
   * module posted.
   */
  messageError(sure: boolean): void;
  /**
   * Called for an uncaught error in the worker. Node reports it right before `exit`, after all messages of the worker. In a browser, the
   * worker may survive the error. `what` explains the error if its own message does not.
   */
  error(reason: unknown, what?: string): void;
  /**
   * Called when the worker is gone. No more messages arrive. `what` says which worker has ended, if no message has arrived from it.
   */
  exit(code: ExitCode, what?: string): void;
}

/** A worker, seen from the thread that started it. */
export interface WorkerHandle extends Endpoint {
  /** True if the worker received the pool's greeting when it started. */
  readonly greeted?: true;
  /**
   * Ends the thread at once, even if a task is running. The promise settles when the thread is gone, after `exit`. A thread inside native code
   * ends only when that code returns.
   */
  terminate(): Promise<void>;
  /**
   * Asks a worker that has closed everything to end by itself, so that it writes what Node writes at the end of a process: coverage and
   * profiles. The promise settles when the worker is gone, after `exit`. Undefined if the host's workers write nothing then.
   */
  leave?(): Promise<void>;
  /**
   * Stops listening to a worker that does not end. It no longer keeps the process alive, and `exit` is not called. Undefined if the host can
   * end a worker whatever it does.
   */
  abandon?(): void;
  /** Sets whether this worker keeps the process alive. Has no effect in browsers. */
  setRef(on: boolean): void;
}

/** Receives what the thread that started this worker sends. */
export interface ParentListener {
  message: OnMessage;
  /** Called for a message that this thread could not read. */
  unreadable(): void;
}

/** The thread that started this worker, seen from inside the worker. */
export interface ParentEndpoint extends Endpoint {
  /** Records the task of a call, for warnings. Undefined in production. */
  readonly called?: (id: number, task: string) => void;
  /** Whether a pool started this worker from a URL. The pool marks such a worker when it starts it. */
  readonly marked: boolean;
  /**
   * The pool's greeting, if the worker received it when it started. Only Node can pass it along. The worker then need not wait for a
   * message.
   */
  readonly greeting: unknown;
  /** Calls the listener's functions as they are when a message arrives: the listener may replace them. */
  listen(listener: ParentListener): void;
  /** Calls `last` right before this worker ends itself (`process.exit`, `self.close`). `last` can still post messages. */
  onEnding(last: () => void): void;
  /** Stops listening. A worker that does not belong to Clearway can then end. */
  ignore(): void;
  /** Returns a promise that settles when all printed output of this worker was sent. Returns undefined if no output is waiting. */
  printed(): Promise<void> | undefined;
  /**
   * Requests a lock of that name and holds it as long as this worker lives. Does nothing in Node.
   *
   * Notifies the parent once the worker holds the lock. Only the first call of this function has an effect. If the host has no locks, the
   * parent gets no notification.
   */
  holdLifeline(name: string): void;
}

/** Limits on the memory of a worker in Node, in MiB. `worker_threads` takes them in this form. */
export interface ResourceLimits {
  maxOldGenerationSizeMb?: number | undefined;
  maxYoungGenerationSizeMb?: number | undefined;
  codeRangeSizeMb?: number | undefined;
  stackSizeMb?: number | undefined;
}

/** Receives what a worker prints. Every writable stream of Node is one. */
export interface TextSink {
  /** Receives the bytes that the worker has printed. The library does not wait for a slow sink. */
  write(bytes: Uint8Array): unknown;
}

/**
 * Options of a worker's thread in Node, as `worker_threads` takes them. A worker inherits from the thread that starts it what is not set
 * here. A pool ignores these options if its source is a factory, because the factory sets them. In browsers, `resourceLimits` has no effect,
 * and the other options are refused with `invalid-argument`.
 */
export interface ThreadOptions {
  /**
   * Limits of a worker's memory. The pool replaces a worker that reaches a limit. The worker's calls fail with `out-of-memory`.
   */
  resourceLimits?: ResourceLimits | undefined;
  /**
   * Node's command line options for the worker, such as `["--import", "./register.mjs"]`. They replace the inherited ones; to add to those,
   * pass `[...process.execArgv, more]`. Calls fail with `worker-start-failed` if Node does not know an option, or does not allow it in
   * workers.
   */
  execArgv?: readonly string[] | undefined;
  /** Environment variables of the worker. By default a copy of this thread's. `SHARE_ENV` of `worker_threads` shares them. */
  env?: { readonly [name: string]: string | undefined } | symbol | undefined;
  /** Arguments that are added to the worker's `process.argv`. */
  argv?: readonly string[] | undefined;
  /** `workerData` of `worker_threads` in the worker. Copied at each start of a worker. The option `setup` does the same in every host. */
  workerData?: unknown;
  /**
   * If true, each worker is a child process, and not a thread. A crash of native code then ends that process only. Everything that crosses
   * is copied, also under `move()`, and nothing can be shared. In browsers, refused with `invalid-argument`. Default false.
   *
   * {@link ThreadOptions.resourceLimits} has only the limits of the heap's generations, and `env` cannot be `SHARE_ENV`.
   */
  processes?: boolean | undefined;
  /** Receives what a worker writes to its stdout, instead of this thread's stdout. */
  stdout?: TextSink | undefined;
  /** Receives what a worker writes to its stderr, instead of this thread's stderr. */
  stderr?: TextSink | undefined;
}

/** Options for starting a worker from a URL. */
export interface SpawnOptions {
  name: string;
  greeting: unknown;
  /** The pool's settings. The same object for every worker of the pool. */
  settings: ThreadOptions & { onError(error: unknown): void };
}

/**
 * A worker that a factory returned. The type has only the methods that the `Worker` of Node and that of browsers share, so it accepts both.
 */
export interface WorkerLike {
  /** Posts a message and moves the memory in `transfer`. */
  postMessage(message: unknown, transfer: never[]): void;
  /** Ends the worker's thread. */
  terminate(): unknown;
}

declare const process: { env: { NODE_ENV?: string } };

/** Time in milliseconds that the copy of one message may take. A longer one is three dropped frames of a page, so it is worth a warning. */
export const cloneMsMax = 50;

/**
 * Returns whether the app runs in development: `process.env.NODE_ENV` is there, or bundlers have replaced it, and it is not "production".
 * A page without a bundler has no `process`, so nothing says that it is in development.
 */
export function inDevelopment(): boolean {
  try {
    // Bundlers replace exactly this expression, and not a test of `typeof process` before it.
    return process.env.NODE_ENV !== "production";
  } catch {
    return false;
  }
}
