// SPDX-License-Identifier: MIT OR Apache-2.0

// The differences between Node and browsers, as one small contract. `#host` is `node.ts` or `browser.ts`, chosen when the package is
// built. All other code of the library is the same in both.

/** Receives a message's data. */
export type OnMessage = (message: unknown) => void;

/** One end of a connection. It posts structured clones, in order. */
export interface Endpoint {
  /**
   * Copies `message` and moves `transfer`. Throws DataCloneError if a value cannot cross, having moved nothing (exception: see
   * `port.ts`).
   */
  post(message: unknown, transfer: readonly object[]): void;
}

/** A worker's events, for the thread that started it. `exit` always comes last, exactly once. */
export interface WorkerEvents {
  message: OnMessage;
  /** A message could not be read on arrival. If not `sure`, it may be the module's own message `null`. */
  messageError(sure: boolean): void;
  /**
   * An uncaught error. Node reports it right before `exit`, after all of the worker's messages; in a browser the worker may survive it.
   */
  error(reason: unknown): void;
  /** The worker is gone, and no more messages arrive. `code` is undefined where the host has no exit codes. */
  exit(code: number | undefined): void;
}

/** A worker, seen from the thread that started it. */
export interface WorkerHandle extends Endpoint {
  /** Whether the worker received the greeting at its start. */
  readonly greeted?: true;
  /** Ends the thread at once, whatever it is doing. Settles when the thread is gone, after `exit`. */
  terminate(): Promise<void>;
  /** Sets whether this worker keeps the process alive (Node; no effect in browsers). */
  setRef(on: boolean): void;
}

/** The thread that started this worker, seen from inside the worker. */
export interface ParentEndpoint extends Endpoint {
  /** Whether Clearway's mark shows that a pool started this worker from a URL. */
  readonly marked: boolean;
  /** The pool's greeting at the start of this worker. Only some hosts (Node) can pass it along; it saves waiting for a message. */
  readonly greeting: unknown;
  listen(onMessage: OnMessage, onMessageError: () => void): void;
  /** Calls `last` when this worker is about to end by itself (process.exit, self.close). It is the last chance to post. */
  onEnding(last: () => void): void;
  /** Stops listening, so that a worker that does not belong to Clearway can end. */
  ignore(): void;
  /** Settles when all of this worker's printed output has left; undefined if none is waiting. */
  printed(): Promise<void> | undefined;
  /**
   * Requests a lock of that name and holds it as long as this worker lives (browsers only).
   *
   * Notifies the other side once the lock is held. Takes effect once. Sends no notification where there are no locks.
   */
  holdLifeline(name: string): void;
}

/** Node's limits on a worker's memory, in MiB, as `worker_threads` takes them. */
export interface ResourceLimits {
  maxOldGenerationSizeMb?: number;
  maxYoungGenerationSizeMb?: number;
  codeRangeSizeMb?: number;
  stackSizeMb?: number;
}

/** How to start a worker from a URL. */
export interface SpawnOptions {
  name: string;
  greeting: unknown;
  resourceLimits?: ResourceLimits | undefined;
}

/** A factory's result: the methods that Node's `Worker` and a browser's share, so that one type fits both. */
export interface WorkerLike {
  /** Posts a message and moves the memory in `transfer`. */
  postMessage(message: unknown, transfer: never[]): void;
  /** Ends the worker's thread. */
  terminate(): unknown;
}
