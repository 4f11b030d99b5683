// SPDX-License-Identifier: MIT OR Apache-2.0
import { checked, type Rules } from "../error/checked.js";
import { ClearwayError, invalid, messageOf } from "../error/clearway-error.js";
import { clearTimeout, clock, OwnPromise, setTimeout, type Timer, timerMsMax } from "../globals.js";

/**
 * Describes how to open, check and close an expensive object, such as a connection, a model or a file. A worker keeps the object between
 * tasks.
 */
export interface ResourceDefinition<T> {
  /** Opens the resource inside the worker, when a task first needs it. If `open` throws, the task fails with `resource-failed`. */
  open(): T | PromiseLike<T>;
  /**
   * Returns whether the resource is still usable. If `check` returns false or throws, the worker closes the resource and opens another one.
   */
  check?(value: T): boolean | PromiseLike<boolean>;
  /** Closes the resource. The worker ignores errors and no longer uses the resource. */
  close?(value: T): void | PromiseLike<void>;
  /**
   * Called at once when the task that holds the resource is cancelled or times out.
   *
   * The task may still be running. Use this function, for example, to cancel the query that runs on a connection. The worker closes the
   * resource when the task has ended, because the state of the resource is unknown.
   */
  cancel?(value: T): void | PromiseLike<void>;
  /** Idle time in milliseconds after which the worker closes the resource. Default 30,000. After more than 24.8 days, as with Infinity, an idle resource stays open. */
  idleMs?: number | undefined;
  /** Age in milliseconds, counted from opening, after which the worker does not use the resource again. Default Infinity. */
  maxAgeMs?: number | undefined;
  /**
   * Idle time in milliseconds after which the worker checks the resource before use. Default 1,000. With 0, the worker checks it each time.
   */
  checkAfterMs?: number | undefined;
}

const brand = Symbol.for("clearway.resource");

/** A resource that `resource()` has defined. Pass it to `withResources`. */
export interface Resource<T> {
  readonly [brand]: Required<Pick<ResourceDefinition<T>, "idleMs" | "maxAgeMs" | "checkAfterMs">> &
    ResourceDefinition<T>;
}

const rules: Rules = {
  open: "function",
  check: "function",
  close: "function",
  cancel: "function",
  idleMs: 0,
  maxAgeMs: 0,
  checkAfterMs: 0,
};

/**
 * Defines a resource. Does not open it: a worker opens the resource when it first runs a task that names it.
 *
 * Only one task at a time holds an open resource. A worker that runs several tasks at once opens the resource several times. Throws
 * `invalid-argument` for an invalid definition.
 */
export function resource<T>(definition: ResourceDefinition<T>): Resource<T> {
  const times = { idleMs: 30_000, maxAgeMs: Number.POSITIVE_INFINITY, checkAfterMs: 1_000 };
  const complete = checked(definition, rules, times, "resource");
  if (!complete.open) throw invalid("resource.open", "a function", complete.open);
  const bound = Object.entries(complete).map(([name, each]) => [
    name,
    // The functions may be methods of an instance of a class, whose private fields only the instance has.
    typeof each === "function" ? each.bind(definition) : each,
  ]);
  return { [brand]: Object.fromEntries(bound) };
}

/** Returns the definition of a resource, with defaults filled in. Throws `invalid-argument` for any other value. */
export function definitionOf<T>(resource: Resource<T>): Resource<T>[typeof brand] {
  const definition = resource?.[brand];
  if (definition === undefined) {
    throw new ClearwayError("invalid-argument", "withResources() takes resources made by resource({ open, … })");
  }
  return definition;
}

/** The time limits of a resource, in milliseconds. */
interface LeaseTimes {
  maxAgeMs: number;
  checkAfterMs: number;
}

/** How the use of a resource ended. */
export type UseOutcome = "ok" | "failed" | "cancelled";

/**
 * The state of one open resource: idle, used or closed. Runs no code of the resource. The methods return the action that the caller must
 * take.
 */
export class Lease {
  readonly #times: LeaseTimes;
  readonly #openedAt: number;
  readonly #canCheck: boolean;
  #usedAt: number;
  #suspect = false;
  #state: "idle" | "used" | "closed" = "used";

  constructor(times: LeaseTimes, canCheck: boolean, now: number) {
    this.#times = times;
    this.#canCheck = canCheck;
    this.#openedAt = now;
    this.#usedAt = now;
  }

  /** Takes the resource for a task. Returns whether the caller must use it, check it first, or close it and take another one. */
  take(now: number): "use" | "check" | "close" {
    if (this.#state !== "idle") return "close";
    if (now - this.#openedAt >= this.#times.maxAgeMs) return this.#close();
    this.#state = "used";
    if (!this.#canCheck) return "use";
    return this.#suspect || now - this.#usedAt >= this.#times.checkAfterMs ? "check" : "use";
  }

  /** Handles the result of a check. Returns whether the caller must use the resource or close it. */
  checked(good: boolean): "use" | "close" {
    this.#suspect = false;
    return good ? "use" : this.#close();
  }

  /** Ends a task's use of the resource. Returns whether the caller must keep it for the next task or close it. */
  release(outcome: UseOutcome, now: number): "keep" | "close" {
    this.#usedAt = now;
    if (now - this.#openedAt >= this.#times.maxAgeMs) return this.#close();
    // A cancelled task may have left a query running or a transaction open. Clearway cannot detect that.
    if (outcome === "cancelled") return this.#close();
    if (outcome === "failed") {
      // The task threw, perhaps because the resource is broken. Only a check can find out.
      if (!this.#canCheck) return this.#close();
      this.#suspect = true;
    }
    this.#state = "idle";
    return "keep";
  }

  /** Called when the idle time is over, or when the worker shuts down. Returns whether the caller must close the resource. */
  expire(): "close" | "nothing" {
    return this.#state === "idle" ? this.#close() : "nothing";
  }

  #close(): "close" {
    this.#state = "closed";
    return "close";
  }
}

type Definition = ReturnType<typeof definitionOf<unknown>>;

interface Opened {
  value: unknown;
  definition: Definition;
  lease: Lease;
  idleTimer: Timer | undefined;
}

/** The clock that leases use, in milliseconds. Tests pass a fake clock. */
interface Clock {
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
  /** What is being opened, and what is given back but not closing yet. */
  readonly #pending = new Set<Promise<unknown>>();
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
  hold(resources: Readonly<Record<string, Resource<unknown>>>): Promise<Held> {
    return this.#track(this.#hold(resources));
  }

  #track<T>(work: Promise<T>): Promise<T> {
    const done = (): void => void this.#pending.delete(work);
    this.#pending.add(work);
    work.then(done, done);
    return work;
  }

  async #hold(resources: Readonly<Record<string, Resource<unknown>>>): Promise<Held> {
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
      release: (outcome) => this.#track(release(outcome)),
      cancel: () => {
        cancelling ??= OwnPromise.all(
          acquired.map(([, { definition, value }]) => ignoreErrors(() => definition.cancel?.(value))),
        );
      },
    };
  }

  /**
   * Closes all idle resources now, and each used resource when its task gives it back. The promise settles when every resource whose
   * closing has begun is closed. Waits, up to a limit of time, for resources that are being opened or given back: one whose call has ended is given
   * back as soon as it is open.
   */
  async shutDown(): Promise<void> {
    this.#shut = true;
    for (const list of this.#idle.values()) {
      for (const opened of list.splice(0)) if (opened.lease.expire() === "close") void this.#close(opened);
    }
    if (this.#pending.size > 0) await withTimeLimit(OwnPromise.allSettled(this.#pending), pendingLimitMs);
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
    if (definition.idleMs > timerMsMax) return;
    opened.idleTimer = setTimeout(() => {
      if (opened.lease.expire() !== "close") return;
      list.splice(list.indexOf(opened), 1);
      void this.#close(opened);
    }, definition.idleMs);
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

// Maximum time in milliseconds for which a shutdown waits for a resource that is being opened. The pool ends a worker that is not closed after 5 s.
const pendingLimitMs = 2_000;

function withTimeLimit(promise: Promise<unknown>, limitMs = closeLimitMs): Promise<unknown> {
  let timer: Timer | undefined;
  const late = new OwnPromise<void>((resolve) => {
    timer = setTimeout(resolve, limitMs);
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
