// SPDX-License-Identifier: MIT OR Apache-2.0
import { ClearwayError } from "../error/clearway-error.js";
import { messageOf } from "../error/message-of.js";
import { clearTimeout, clock, OwnPromise, setTimeout, type Timer } from "../globals.js";
import { Lease, type UseOutcome } from "./lease.js";
import { definitionOf, type Resource } from "./resource.js";

type Definition = ReturnType<typeof definitionOf<unknown>>;

interface Opened {
  value: unknown;
  definition: Definition;
  lease: Lease;
  idleTimer: Timer | undefined;
}

/** The clock that leases use, in milliseconds. Tests pass a fake clock. */
export interface Clock {
  now(): number;
}

/** The resources that one task holds while it runs. */
export interface Held {
  readonly values: Record<string, unknown>;
  /** Calls the `cancel` function of each resource at once, because the task was cancelled. */
  cancel(): void;
  /** Gives all resources back. The promise settles when those that had to be closed are closed. Call it once. */
  release(outcome: UseOutcome): Promise<void>;
}

/**
 * All open resources of one worker. Opens a resource when a task first needs it, and checks it after idle time. Closes a resource that is
 * idle for too long or too old, and all resources when the worker shuts down.
 */
export class Leases {
  readonly #idle = new Map<Definition, Opened[]>();
  readonly #closing = new Set<Promise<void>>();
  readonly #clock: Clock;
  #live = 0;
  #shut = false;

  constructor(ownClock: Clock = { now: clock }) {
    this.#clock = ownClock;
  }

  /** Number of open resources, in use or idle. */
  get live(): number {
    return this.#live;
  }

  /**
   * Takes one instance of each resource. Opens a new instance if none is idle. If an instance cannot be opened, gives the others back and
   * rejects with `resource-failed`.
   */
  async hold(resources: Readonly<Record<string, Resource<unknown>>>): Promise<Held> {
    const acquired: [string, Opened][] = [];
    const names = Object.keys(resources);
    const results = await OwnPromise.allSettled(names.map((name) => this.#take(name, definitionOf(resources[name]!))));
    let failed: PromiseRejectedResult | undefined;
    results.forEach((result, at) => {
      if (result.status === "fulfilled") acquired.push([names[at]!, result.value]);
      else failed ??= result;
    });
    let cancelling: Promise<unknown> | undefined;
    const release = async (outcome: UseOutcome): Promise<void> => {
      // A resource must not be closed while its `cancel` runs. `release` therefore waits for `cancel`, up to the time limit.
      if (cancelling !== undefined) await withTimeLimit(cancelling);
      await OwnPromise.all(acquired.splice(0).map(([, opened]) => this.#release(opened, outcome)));
    };
    if (failed !== undefined) {
      await release("ok");
      throw failed.reason;
    }
    const values: Record<string, unknown> = {};
    for (const [name, opened] of acquired) values[name] = opened.value;
    return {
      values,
      release,
      cancel: () => {
        cancelling ??= OwnPromise.all(
          acquired.map(([, { definition, value }]) => ignoreErrors(() => definition.cancel?.(value))),
        );
      },
    };
  }

  /**
   * Closes all idle resources now, and each used resource when its task gives it back. The promise settles when every resource whose
   * closing has begun is closed.
   */
  async shutDown(): Promise<void> {
    this.#shut = true;
    for (const list of this.#idle.values()) {
      for (const opened of list.splice(0)) if (opened.lease.expire() === "close") void this.#close(opened);
    }
    while (this.#closing.size > 0) await OwnPromise.all(this.#closing);
  }

  async #take(name: string, definition: Definition): Promise<Opened> {
    const idle = this.#idle.get(definition);
    for (let opened = idle?.pop(); opened !== undefined; opened = idle?.pop()) {
      clearTimeout(opened.idleTimer);
      const found = opened;
      let action = opened.lease.take(this.#clock.now());
      if (action === "check") {
        action = opened.lease.checked((await ignoreErrors(() => definition.check?.(found.value))) === true);
      }
      if (action === "use") return opened;
      void this.#close(opened);
    }
    try {
      const value = await definition.open();
      this.#live++;
      const lease = new Lease(definition, definition.check !== undefined, this.#clock.now());
      return { value, definition, lease, idleTimer: undefined };
    } catch (cause) {
      const why = `the resource "${name}" could not be opened: ${messageOf(cause)}`;
      throw new ClearwayError("resource-failed", why, { cause });
    }
  }

  async #release(opened: Opened, outcome: UseOutcome): Promise<void> {
    const action = opened.lease.release(outcome, this.#clock.now());
    if (action === "close" || (this.#shut && opened.lease.expire() === "close")) return this.#close(opened);
    const { definition } = opened;
    let list = this.#idle.get(definition);
    if (list === undefined) {
      list = [];
      this.#idle.set(definition, list);
    }
    list.push(opened);
    if (definition.idleMs === Number.POSITIVE_INFINITY) return;
    opened.idleTimer = setTimeout(
      () => {
        if (opened.lease.expire() !== "close") return;
        list.splice(list.indexOf(opened), 1);
        void this.#close(opened);
      },
      Math.min(definition.idleMs, maxTimerMs),
    );
  }

  #close(opened: Opened): Promise<void> {
    clearTimeout(opened.idleTimer);
    this.#live--;
    const closing = withTimeLimit(ignoreErrors(() => opened.definition.close?.(opened.value))).then(() => {
      this.#closing.delete(closing);
    });
    this.#closing.add(closing);
    return closing;
  }
}

// Maximum time in milliseconds that closing or cancelling a resource may delay an answer or a shutdown. After that, the resource is
// abandoned.
const closeLimitMs = 5_000;

// Longest time of a timer, in milliseconds. A host stores the time in 32 bits, so a longer timer would fire at once.
const maxTimerMs = 2 ** 31 - 1;

function withTimeLimit(promise: Promise<unknown>): Promise<unknown> {
  let timer: Timer | undefined;
  const late = new OwnPromise<void>((resolve) => {
    timer = setTimeout(resolve, closeLimitMs);
  });
  return OwnPromise.race([promise, late]).finally(() => clearTimeout(timer));
}

// Runs a function of a resource and ignores its error, because no caller could receive it. A resource whose function fails is abandoned.
async function ignoreErrors<T>(act: () => T): Promise<Awaited<T> | undefined> {
  try {
    return await act();
  } catch {
    return undefined;
  }
}
