// SPDX-License-Identifier: MIT OR Apache-2.0
import { describe, expect, test } from "vitest";
import { dispose } from "../../src/globals.js";
import {
  type OpenTelemetryMeter,
  type OpenTelemetryResult,
  recordPool,
  recordStalls,
} from "../../src/meter-metrics.js";
import { stallOf } from "./stalls.js";

type Call = [instrument: string, value: number, attributes: unknown];

/** Returns a meter that keeps every call. `act` runs inside of each call. */
function fakeMeter(act: (instrument: string) => unknown = () => undefined) {
  const calls: Call[] = [];
  const made: [string, unknown][] = [];
  const instrument = (name: string, options: unknown) => {
    made.push([name, options]);
    const call = (value: number, attributes: unknown): void => {
      calls.push([name, value, attributes]);
      return act(name) as undefined;
    };
    return { record: call, add: call };
  };
  const meter: OpenTelemetryMeter = { createHistogram: instrument, createCounter: instrument };
  return { meter, calls, made };
}

describe("recordStalls", () => {
  test("creates its instruments with units and buckets, and records each part of a stall", () => {
    const { meter, calls, made } = fakeMeter();
    const scope = recordStalls(meter, { hz: 60, attributes: { "thread.name": "main" } });
    expect(made.map(([name, options]) => [name, (options as { unit: string }).unit])).toEqual([
      ["clearway.stall.duration", "s"],
      ["clearway.stall.gc.time", "s"],
      ["clearway.stall.machine.time", "s"],
      ["clearway.hitch.time", "s"],
      ["clearway.frame.dropped", "{frame}"],
      ["clearway.mark.stall.time", "s"],
    ]);
    expect(made[0]![1]).toMatchObject({
      advice: { explicitBucketBoundaries: [0.00833, 0.01667, 0.03333, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10] },
    });
    scope.onStall(stallOf({ lengthMs: 100, gcMs: 60, cause: "gc", marks: [{ label: "parse", overlapMs: 10 }] }));
    const main = { "thread.name": "main" };
    expect(calls).toEqual([
      ["clearway.stall.duration", 0.1, { ...main, "clearway.stall.cause": "gc" }],
      ["clearway.stall.gc.time", 0.06, main],
      ["clearway.hitch.time", expect.closeTo(0.1 - 1 / 60, 9), main],
      ["clearway.frame.dropped", expect.closeTo(5, 9), main],
      ["clearway.mark.stall.time", 0.01, { ...main, "clearway.mark.label": "parse" }],
    ]);
  });

  test.each([
    ["an Error", new Error("full")],
    ["undefined", undefined],
    ["a string", "full"],
  ])("goes on with the other instruments when each throws %s", (_, thrown) => {
    const errors: unknown[] = [];
    const { meter, calls } = fakeMeter(() => {
      throw thrown;
    });
    const scope = recordStalls(meter, { hz: 60, onError: (error) => errors.push(error) });
    scope.onStall(stallOf());
    expect(calls).toHaveLength(3);
    expect(errors).toEqual([thrown, thrown, thrown]);
    expect(scope.failures).toBe(3);
  });

  test("never throws, even if the listener of errors throws", () => {
    const { meter } = fakeMeter(() => {
      throw new Error("full");
    });
    const scope = recordStalls(meter, {
      hz: 60,
      onError: () => {
        throw new Error("again");
      },
    });
    expect(() => scope.onStall(stallOf())).not.toThrow();
    expect(scope.failures).toBe(3);
  });

  test("counts the rejection of an instrument that is async", async () => {
    let heard: (error: unknown) => void = () => undefined;
    const error = new Promise((resolve) => {
      heard = resolve;
    });
    const { meter } = fakeMeter((name) =>
      name === "clearway.stall.duration" ? Promise.reject(new Error("late")) : undefined,
    );
    const scope = recordStalls(meter, { hz: 60, onError: heard });
    scope.onStall(stallOf());
    expect(await error).toEqual(new Error("late"));
    expect(scope.failures).toBe(1);
  });

  test("drops a stall that an instrument gives back to it", () => {
    const { meter, calls } = fakeMeter(() => scope.onStall(stallOf()));
    const scope = recordStalls(meter, { hz: 60 });
    scope.onStall(stallOf());
    expect(calls).toHaveLength(3);
    scope.onStall(stallOf());
    expect(calls).toHaveLength(6);
  });

  test("does nothing after its end, also when an instrument ends it", () => {
    const { meter, calls } = fakeMeter(() => scope.close());
    const scope = recordStalls(meter, { hz: 60 });
    scope.onStall(stallOf());
    expect(calls).toHaveLength(3);
    scope.onStall(stallOf());
    expect(calls).toHaveLength(3);
  });

  test("refuses a second scope with the same attributes until the first is closed", () => {
    const { meter } = fakeMeter();
    const first = recordStalls(meter, { hz: 60, attributes: { a: 1, b: true } });
    expect(() => recordStalls(meter, { hz: 60, attributes: { b: true, a: 1 } })).toThrow(
      'attributes must differ from those of every open scope of this meter: attributes=[["a",1],["b",true]]',
    );
    recordStalls(meter, { hz: 60, attributes: { a: 2 } });
    recordStalls(fakeMeter().meter, { attributes: { a: 1, b: true } });
    first.close();
    const second = recordStalls(meter, { hz: 60, attributes: { a: 1, b: true } });
    first.close();
    expect(() => recordStalls(meter, { hz: 60, attributes: { a: 1, b: true } })).toThrow("attributes must differ");
    second[dispose]();
  });

  test("passes on what a meter throws, and claims no attributes then", () => {
    const { meter } = fakeMeter();
    let broken = true;
    const moody: OpenTelemetryMeter = {
      ...meter,
      createCounter: (name) => {
        if (broken) throw new Error("no more instruments");
        return meter.createCounter(name);
      },
    };
    expect(() => recordStalls(moody)).toThrow("no more instruments");
    broken = false;
    expect(recordStalls(moody).failures).toBe(0);
  });

  test.each([undefined, null, {}, { record: 1 }])("refuses a meter whose histogram is %j", (histogram) => {
    const meter = { ...fakeMeter().meter, createHistogram: () => histogram as never };
    expect(() => recordStalls(meter, { hz: 60 })).toThrow(
      new TypeError(`meter.createHistogram() must return an object with record(): record=${typeof histogram?.record}`),
    );
  });

  test.each([undefined, null, 5, {}])("refuses the meter %j", (meter) => {
    expect(() => recordStalls(meter as never)).toThrow(
      /^meter must be an object with createHistogram\(\) and createCounter\(\): meter=/,
    );
  });
});

type Callback = (result: OpenTelemetryResult) => void;

/** A meter whose `collect()` asks the observables, as OpenTelemetry's reader does. */
function poolMeter(act: () => void = () => {}) {
  const records: unknown[] = [];
  const callbacks = new Map<Callback, string>();
  const made: [string, string, unknown][] = [];
  const observable = (kind: string) => (name: string, options?: { unit?: string }) => {
    made.push([kind, name, options?.unit]);
    return {
      addCallback: (callback: Callback) => void callbacks.set(callback, name),
      removeCallback: (callback: Callback) => void callbacks.delete(callback),
    };
  };
  const meter = {
    createHistogram: (name: string, options?: { unit?: string }) => {
      made.push(["histogram", name, options?.unit]);
      return {
        record(value: number, attributes?: unknown) {
          act();
          records.push([value, attributes]);
        },
      };
    },
    createCounter: () => ({ add: () => {} }),
    createObservableGauge: observable("gauge"),
    createObservableCounter: observable("counter"),
  };
  const collect = () => {
    const seen: unknown[] = [];
    for (const [callback, name] of callbacks)
      callback({
        observe(value, attributes) {
          act();
          seen.push([name, value, attributes]);
        },
      });
    return seen;
  };
  return { meter, made, records, collect, callbacks };
}

const side = { movedBytes: 5, sharedBytes: 6, copiedBytes: 7 };
const pool = {
  stats: () => ({
    workers: { size: 3, ready: 2, busy: 1, restarts: 4 },
    queue: { items: 8, bytes: 9 },
    open: 10,
    tasks: { resize: { ok: 11, failed: 2, cancelled: 1, errors: { timeout: 1 } } },
    ledger: { toWorkers: side, fromWorkers: side },
  }),
};
const call = { task: "resize", queueUs: 1, transitUs: 20, runUs: 3000, returnUs: 40 };

describe("recordPool", () => {
  test("records the phases of each call in seconds, and what the pool counts whenever it is asked", () => {
    const { meter, made, records, collect } = poolMeter();
    const recorder = recordPool(meter, { attributes: { pool: "images" } });
    expect(made).toContainEqual(["histogram", "clearway.pool.call.duration", "s"]);
    expect(made).toContainEqual(["counter", "clearway.pool.errors", "{call}"]);
    expect(made).toContainEqual(["gauge", "clearway.pool.queue.size", "By"]);
    const { onCall } = recorder;
    onCall(call);
    const of = (phase: string) => ({ pool: "images", task: "resize", phase });
    expect(records).toEqual([
      [1e-6, of("queue")],
      [2e-5, of("transit")],
      [3e-3, of("run")],
      [4e-5, of("return")],
    ]);
    expect(collect()).toEqual([]);
    recorder.observe(pool);
    const seen = collect();
    expect(seen).toContainEqual(["clearway.pool.workers", 2, { pool: "images", state: "ready" }]);
    expect(seen).toContainEqual(["clearway.pool.errors", 1, { pool: "images", task: "resize", code: "timeout" }]);
    expect(seen).toHaveLength(7 + 3 + 1 + 6);
  });

  test("ends its reports, and observes one pool", () => {
    const { meter, records, collect, callbacks } = poolMeter();
    const recorder = recordPool(meter);
    recorder.observe(pool);
    expect(() => recorder.observe(pool)).toThrow(RangeError);
    recorder.close();
    recorder.onCall(call);
    expect([collect(), records, callbacks.size]).toEqual([[], [], 0]);
    expect(() => recorder.observe(pool)).toThrow(RangeError);
    recorder[dispose]();
  });

  test("gives the errors of instruments and of a pool to onError, and disturbs neither the pool nor the reader", () => {
    const errors: unknown[] = [];
    const { meter, collect } = poolMeter(() => {
      throw new Error("full");
    });
    const recorder = recordPool(meter, {
      onError(error) {
        errors.push(error);
        throw new Error("again");
      },
    });
    recorder.onCall(call);
    expect(errors).toHaveLength(4);
    recorder.observe({
      stats() {
        throw new Error("closed");
      },
    });
    expect(collect()).toEqual([]);
    expect(errors).toHaveLength(4 + 8);
  });

  test("refuses a meter without its methods, instruments without theirs, and what is no pool", () => {
    const { meter } = poolMeter();
    expect(() => recordPool({} as never)).toThrow("meter must be an object with createHistogram()");
    expect(() => recordPool(undefined as never)).toThrow("meter must be an object with createHistogram()");
    expect(() => recordPool({ ...meter, createObservableGauge: () => ({}) as never })).toThrow(
      "meter.createObservableGauge() must return an object with removeCallback()",
    );
    expect(() => recordPool(meter).observe({} as never)).toThrow("pool must be a pool: pool=object");
    expect(() => recordPool(meter, { atributes: {} } as never)).toThrow(/attributes/);
  });
});
