// SPDX-License-Identifier: MIT OR Apache-2.0
import { ClearwayError } from "../error/clearway-error.js";
import { messageOf } from "../error/message-of.js";
import { Lease, type UseOutcome } from "./lease.js";
import { definitionOf, type Resource } from "./resource.js";

type Definition = ReturnType<typeof definitionOf<unknown>>;

interface Opened {
  value: unknown;
  definition: Definition;
  lease: Lease;
  idleTimer: ReturnType<typeof setTimeout> | undefined;
}

/** The clock that leases use. Tests pass their own. */
export interface Clock {
  now(): number;
}

/** The resources that one task holds while it runs. */
export interface Held {
  readonly values: Record<string, unknown>;
  /** Notifies the resources at once that their task was cancelled. */
  cancel(): void;
  /** Returns the resources. Settles when those that had to be closed are closed. Call it once. */
  release(outcome: UseOutcome): Promise<void>;
}

/**
 * Every opened resource of one worker. Opens resources lazily, checks them after idle time, and closes them when they are idle for too
 * long, too old, or the worker shuts down.
 */
export class Leases {
  readonly #idle = new Map<Definition, Opened[]>();
  readonly #closing = new Set<Promise<void>>();
  readonly #clock: Clock;
  #live = 0;
  #shut = false;

  constructor(clock: Clock = performance) {
    this.#clock = clock;
  }

  /** Number of open resources, in use or idle. */
  get live(): number {
    return this.#live;
  }

  /**
   * Takes one of each resource, opening those that are not idle here. If one cannot be opened, returns the others and throws
   * `resource-failed`.
   */
  async hold(resources: Readonly<Record<string, Resource<unknown>>>): Promise<Held> {
    const taken: [string, Opened][] = [];
    const names = Object.keys(resources);
    const results = await Promise.allSettled(names.map((name) => this.#take(name, definitionOf(resources[name]!))));
    let failed: PromiseRejectedResult | undefined;
    results.forEach((result, at) => {
      if (result.status === "fulfilled") taken.push([names[at]!, result.value]);
      else failed ??= result;
    });
    let cancelling: Promise<unknown> | undefined;
    const release = async (outcome: UseOutcome): Promise<void> => {
      // A resource must not be closed while its `cancel` runs.
      if (cancelling !== undefined) await limited(cancelling);
      await Promise.all(taken.splice(0).map(([, opened]) => this.#release(opened, outcome)));
    };
    if (failed !== undefined) {
      await release("ok");
      throw failed.reason;
    }
    const values: Record<string, unknown> = {};
    for (const [name, opened] of taken) values[name] = opened.value;
    return {
      values,
      release,
      cancel: () => {
        cancelling ??= Promise.all(taken.map(([, { definition, value }]) => attempt(() => definition.cancel?.(value))));
      },
    };
  }

  /** Closes all idle resources, and from now on every returned one. Settles when all of them are closed. */
  async shutDown(): Promise<void> {
    this.#shut = true;
    for (const list of this.#idle.values()) {
      for (const opened of list.splice(0)) if (opened.lease.expire() === "close") void this.#close(opened);
    }
    while (this.#closing.size > 0) await Promise.all(this.#closing);
  }

  async #take(name: string, definition: Definition): Promise<Opened> {
    const idle = this.#idle.get(definition);
    for (let opened = idle?.pop(); opened !== undefined; opened = idle?.pop()) {
      clearTimeout(opened.idleTimer);
      const found = opened;
      let action = opened.lease.take(this.#clock.now());
      if (action === "check") {
        action = opened.lease.checked((await attempt(() => definition.check?.(found.value))) === true);
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
    const closing = limited(attempt(() => opened.definition.close?.(opened.value))).then(() => {
      this.#closing.delete(closing);
    });
    this.#closing.add(closing);
    return closing;
  }
}

// How long closing a resource may delay an answer or a shutdown. After that the resource is abandoned.
const closeLimitMs = 5_000;

// Timers count in 32 bits; a longer one would fire at once.
const maxTimerMs = 2 ** 31 - 1;

function limited(promise: Promise<unknown>): Promise<unknown> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise((resolve) => {
    timer = setTimeout(resolve, closeLimitMs);
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

// A resource that cannot be closed, checked or cancelled is abandoned. No caller could receive the error.
async function attempt<T>(act: () => T): Promise<Awaited<T> | undefined> {
  try {
    return await act();
  } catch {
    return undefined;
  }
}
