// SPDX-License-Identifier: MIT OR Apache-2.0
import { Worker } from "node:worker_threads";
import { move } from "clearway";
import { callback } from "clearway/callback";
import type { Misdeed } from "../../fixtures/misdeeds.js";
import { foreignSignals } from "../../fixtures/misdeeds.js";
import { foreignUrl, type Setting, type Stage } from "./stage.js";

/** A point at which a pool calls foreign code. */
export interface Point extends Setting {
  readonly name: string;
  /** Whether a call may wait forever at this point, until the pool is terminated. */
  readonly hangs?: boolean;
  /** Makes the pool reach the point. Returns the promises that must settle. */
  reach(stage: Stage): readonly PromiseLike<unknown>[] | Promise<readonly PromiseLike<unknown>[]>;
}

/** A point in an argument. */
const argument = (name: string, make: (act: Misdeed) => unknown): Point => ({
  name,
  reach: ({ pool, act }) => [
    pool.call.echo(make(act)),
    // Other calls of the same tick must not be affected.
    pool.call.add(1, 2),
    pool.with({ strict: true }).call.echo(make(act)),
    pool.with({ timeoutMs: 60_000 }).call.echo([make(act)]),
    pool.with({ key: "a" }).call.echo(move(make(act), [])),
  ],
});

/** A point in a stream from the caller. */
const input = (name: string, make: (act: Misdeed) => object): Point => ({
  name,
  reach: ({ pool, act }) => {
    const source = (): AsyncIterable<unknown> => make(act) as AsyncIterable<unknown>;
    return [pool.call.firstOf(source()), pool.call.add(1, 2), pool.with({ strict: true }).call.firstOf(source())];
  },
});

/** A signal of which something is foreign: of calls that wait, that run, that are over, and of a stream. */
const signal = (name: string): Point => ({
  name,
  reach: ({ pool, act }) => {
    const make = foreignSignals[name]!;
    const one = make(act);
    const other = make(act);
    const { call } = pool.with({ signal: one.signal });
    const waiting = [call.add(1, 2), call.add(3, 4)];
    // Aborts while the task reads its stream, which ends for the task whose signal is never heard.
    const aborts = {
      next: async () => {
        other.abort();
        return { done: true, value: undefined };
      },
    };
    const running = pool.with({ signal: other.signal }).call.firstOf(iterator(aborts) as AsyncIterable<unknown>);
    const read = (async () => {
      for await (const _each of pool.with({ signal: make(act).signal }).call.numbers(3));
    })();
    one.abort();
    return [...waiting, running, read, call.add(5, 6), pool.call.add(1, 2)];
  },
});

/** A point in a function of the caller that tasks call. */
const calledBack = (name: string, make: (act: Misdeed) => () => unknown): Point => ({
  name,
  reach: ({ pool, act }) => [
    pool.call.asks(3, callback(make(act))),
    pool.call.add(1, 2),
    pool.call.tellsAll(3, callback(make(act))),
    pool.with({ timeoutMs: 60_000 }).call.asks(2, callback(make(act), { concurrency: 1 })),
    pool.with({ key: "a" }).call.asks(1, callback(make(act))),
  ],
});

/** A point in an argument of a broadcast, which calls every worker. */
const broadcast = (name: string, make: (act: Misdeed) => unknown): Point => ({
  name,
  reach: ({ pool, act }) => [
    pool.broadcast.echo(make(act)),
    pool.call.add(1, 2),
    pool.with({ strict: true }).broadcast.echo(make(act)),
    pool.with({ timeoutMs: 60_000 }).broadcast.echo([make(act)]),
  ],
});

const iterator = (steps: object): object => ({ [Symbol.asyncIterator]: () => steps });
const value = { done: false, value: 1 };
const once = (act: Misdeed): object => {
  let step = 0;
  return { next: () => [value, act()][step++] ?? { done: true, value: undefined } };
};

/** All points on the caller's side. Add new ones here. */
export const callerPoints: readonly Point[] = [
  argument("a getter of an argument", (act) => ({
    get odd() {
      return act();
    },
  })),
  argument("a getter of an argument's element", (act) =>
    Object.defineProperty([1, 2], 1, { get: act, enumerable: true }),
  ),
  argument("a getter beside memory that moves", (act) =>
    move(
      {
        bytes: new Uint8Array(1000),
        get odd() {
          return act();
        },
      },
      [],
    ),
  ),
  argument(
    "a getter deep in an argument",
    (act) => new Map([["a", { deep: Object.defineProperty({}, "odd", { get: act, enumerable: true }) }]]),
  ),
  ...(["get", "has", "ownKeys", "getPrototypeOf", "getOwnPropertyDescriptor"] as const).map((trap) =>
    argument(`the trap ${trap} of an argument`, (act) => new Proxy({ a: 1 }, { [trap]: act })),
  ),
  argument("an argument's tag", (act) => Object.create({}, { [Symbol.toStringTag]: { get: act } })),
  argument("an argument's constructor", (act) => Object.create(Object.create(null), { constructor: { get: act } })),
  argument("an argument's toJSON", (act) => ({ a: 1, toJSON: act })),
  // biome-ignore lint/suspicious/noThenProperty: the test needs a thenable
  argument("an argument's then", (act) => ({ then: act })),
  argument("the iterator of a map", (act) => Object.assign(new Map([[1, 2]]), { [Symbol.iterator]: act })),
  argument("the cause of an error", (act) => Object.defineProperty(new Error("x"), "cause", { get: act })),
  argument("the value under a mark of move()", (act) => ({
    [Symbol.for("clearway.moved")]: true,
    get value() {
      return act();
    },
  })),
  argument("the list under a mark of move()", (act) => ({
    [Symbol.for("clearway.moved")]: true,
    value: 1,
    get transfer() {
      return act();
    },
  })),
  argument("the mark of move()", (act) => ({
    get [Symbol.for("clearway.moved")]() {
      return act();
    },
  })),
  argument("an argument's Symbol.asyncIterator", (act) => ({
    get [Symbol.asyncIterator]() {
      return act();
    },
  })),

  input("the start of a stream", (act) => ({ [Symbol.asyncIterator]: act })),
  input("the next() of a stream", (act) => iterator({ next: act })),
  input("a later next() of a stream", (act) => iterator(once(act))),
  input("the next of a stream", (act) =>
    iterator({
      get next() {
        return act();
      },
    }),
  ),
  input("the value of a stream's step", (act) =>
    iterator({
      next: () => ({
        done: false,
        get value() {
          return act();
        },
      }),
    }),
  ),
  input("the last value of a stream", (act) =>
    iterator({
      next: () => ({
        done: true,
        get value() {
          return act();
        },
      }),
    }),
  ),
  input("the done of a stream's step", (act) =>
    iterator({
      next: () => ({
        get done() {
          return act();
        },
        value: 1,
      }),
    }),
  ),
  input("a value of a stream", (act) =>
    iterator({
      next: () => ({
        done: false,
        value: {
          get odd() {
            return act();
          },
        },
      }),
    }),
  ),
  input("the return() of a stream", (act) => iterator({ next: () => value, return: act })),
  input("the return() of a stream that waits", (act) => iterator({ next: async () => value, return: act })),
  input("the return of a stream", (act) =>
    iterator({
      next: () => value,
      get return() {
        return act();
      },
    }),
  ),
  input("the return() of a stream whose value cannot cross", (act) =>
    iterator({ next: () => ({ done: false, value: () => 1 }), return: act }),
  ),

  calledBack("a callback", (act) => act),
  calledBack("a getter of a callback's value", (act) => () => ({
    get odd() {
      return act();
    },
  })),
  calledBack("a trap of a callback's value", (act) => () => new Proxy({ a: 1 }, { ownKeys: act as never })),
  calledBack("the value under move() of a callback", (act) => () => move([act()], [])),

  broadcast("a getter of a broadcast's argument", (act) => ({
    get odd() {
      return act();
    },
  })),
  ...(["get", "has", "ownKeys", "getPrototypeOf"] as const).map((trap) =>
    broadcast(`the trap ${trap} of a broadcast's argument`, (act) => new Proxy({ a: 1 }, { [trap]: act })),
  ),
  broadcast("the Symbol.asyncIterator of a broadcast's argument", (act) => ({
    get [Symbol.asyncIterator]() {
      return act();
    },
  })),
  {
    name: "a callback of a broadcast",
    reach: ({ pool, act }) => [pool.broadcast.asks(2, callback(act)), pool.call.add(1, 2), pool.broadcast.add(1, 2)],
  },
  {
    name: "a signal's addEventListener under a broadcast",
    reach: ({ pool, act }) => {
      const { signal } = foreignSignals["the addEventListener() of a signal"]!(act);
      return [pool.with({ signal }).broadcast.add(1, 2), pool.call.add(1, 2), pool.broadcast.add(3, 4)];
    },
  },

  ...Object.keys(foreignSignals).map(signal),

  {
    name: "a progress listener",
    reach: ({ pool, act }) => {
      const { call } = pool.with({ onProgress: act });
      return [call.tells(3), pool.call.add(1, 2), call.tells(1), pool.call.tells(2)];
    },
  },

  {
    name: "the first factory",
    source: (act) => {
      let made = 0;
      return () => (made++ === 0 ? (act() as never) : (new Worker(foreignUrl) as never));
    },
    reach: async ({ pool }) => {
      const first = [pool.ready(), pool.call.add(1, 2)];
      await Promise.allSettled(first);
      return [...first, pool.ready(), pool.call.add(3, 4)];
    },
  },
  {
    name: "the terminate() of a factory's worker",
    source: (act) => () => Object.assign(new Worker(foreignUrl), { terminate: act }) as never,
    reach: ({ pool }) => {
      const { call } = pool.with({ timeoutMs: 5 });
      return [call.never(), pool.call.add(1, 2), call.never(), pool.call.add(3, 4)];
    },
  },
  {
    name: "the module's loader",
    options: (act) => ({ module: act as () => Promise<unknown> }),
    reach: async ({ pool }) => {
      await Promise.allSettled([pool.ready()]);
      const { call } = pool.with({ placement: "inline" });
      return [call.add(1, 2), call.add(3, 4), pool.advise(), call.add(5, 6)];
    },
  },

  {
    name: "a factory for more workers",
    source: (act) => {
      let made = 0;
      return () => (made++ === 1 ? (act() as never) : (new Worker(foreignUrl) as never));
    },
    options: () => ({ size: { min: 1, max: 3 } }),
    reach: ({ pool }) => [1, 2, 3, 4].map((each) => pool.call.add(each, each)),
  },
];
