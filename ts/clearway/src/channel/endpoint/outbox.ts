// SPDX-License-Identifier: MIT OR Apache-2.0

/**
 * A request that waits to be sent. `leave` sends the request. `hold` is called before a request waits: the app may change its value
 * meanwhile. If one of them throws, the outbox calls `refuse` with the error.
 */
export interface QueuedRequest {
  leave(): void;
  hold(): void;
  refuse(reason: unknown): void;
}

/**
 * Keeps requests while the transport is congested, in the order in which they were made. The callers limit the number of
 * requests.
 */
export class Outbox {
  #waiting: QueuedRequest[] = [];
  readonly #congested: () => boolean;

  constructor(congested: () => boolean) {
    this.#congested = congested;
  }

  /** Sends a request now, or keeps it. Returns false if the request was kept. */
  push(request: QueuedRequest): boolean {
    if (this.#waiting.length > 0 || this.#congested()) {
      // Before `hold`, because a getter in the value may send another request.
      this.#waiting.push(request);
      try {
        request.hold();
      } catch (reason) {
        this.remove(request);
        request.refuse(reason);
      }
      return false;
    }
    leave(request);
    return true;
  }

  /** Removes a request that has not been sent. Returns false if the request has been sent. */
  remove(request: QueuedRequest): boolean {
    const index = this.#waiting.indexOf(request);
    if (index < 0) return false;
    this.#waiting.splice(index, 1);
    return true;
  }

  /** Sends waiting requests. The owner calls this when the transport has room again. */
  drain(): void {
    while (!this.#congested()) {
      const next = this.#waiting.shift();
      if (next === undefined) return;
      leave(next);
    }
  }

  /** Drops all waiting requests. Calls neither `leave` nor `refuse`. */
  clear(): void {
    this.#waiting = [];
  }
}

function leave(request: QueuedRequest): void {
  try {
    request.leave();
  } catch (reason) {
    request.refuse(reason);
  }
}
