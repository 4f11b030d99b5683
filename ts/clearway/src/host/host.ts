// SPDX-License-Identifier: MIT OR Apache-2.0

// What differs between Node and browsers, as one small contract. `#host` is `node.ts` or `browser.ts`, chosen when the
// package is built; everything else in the library is the same code in both.

/** A message event's two parts that matter. */
export type OnMessage = (message: unknown) => void;

/** One end of a wire: posts structured clones, in order. */
export interface Endpoint {
  /** Copies `message`, moves `transfer`. Throws DataCloneError when something cannot cross, having moved nothing (but see `port.ts`). */
  post(message: unknown, transfer: readonly object[]): void;
}

/** What may happen to a worker, as told to the side that started it. `exit` comes last, once, whatever happened. */
export interface WorkerEvents {
  message: OnMessage;
  /** A message could not be read on arrival; where that is not `sure`, it may be one of the module's own, of `null`. */
  messageError(sure: boolean): void;
  /** An uncaught error. In Node told right before `exit`, behind all that the worker said; in a browser it may live on. */
  error(reason: unknown): void;
  /** The worker is gone. Nothing arrives any more. `code` is undefined where the host has no exit codes. */
  exit(code: number | undefined): void;
}

/** A worker, seen from the side that started it. */
export interface WorkerHandle extends Endpoint {
  /** Whether it was told the greeting at its start. */
  readonly greeted?: true;
  /** Ends the thread at once, whatever it does. Settles when it is gone; `exit` has been told by then. */
  terminate(): Promise<void>;
  /** Whether this worker keeps the process alive (Node; no effect in browsers). */
  setRef(on: boolean): void;
}

/** The side that started this worker, seen from inside. */
export interface ParentEndpoint extends Endpoint {
  /** Whether Clearway's own mark says that a pool started this worker from a URL. */
  readonly marked: boolean;
  /** What the pool said when it started this worker, where a host can carry it along (Node): saves waiting for it. */
  readonly greeting: unknown;
  listen(onMessage: OnMessage, onMessageError: () => void): void;
  /** Calls `last` when this worker is about to end by itself (process.exit, self.close): a last chance to post. */
  onEnding(last: () => void): void;
  /** Stops listening, so that a worker which is not Clearway's may end. */
  ignore(): void;
  /** Settles when all that this worker has printed has left; undefined when it has already. */
  printed(): Promise<void> | undefined;
  /**
   * Asks for a lock of that name, holds it for as long as this worker lives, and tells the other side of it once it is held
   * (browsers only). Once. Tells nothing where there are no locks.
   */
  holdLifeline(name: string): void;
}

/** Node's limits on a worker's memory, in megabytes (MiB), as `worker_threads` takes them. */
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

/** What a factory returns: Node's `Worker` or a browser's, by what they share, so that one type serves both. */
export interface WorkerLike {
  postMessage(message: unknown, transfer: never[]): void;
  terminate(): unknown;
}
