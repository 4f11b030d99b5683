// SPDX-License-Identifier: MIT OR Apache-2.0
import { describe, expect, test } from "vitest";
import { dispose } from "../../src/globals.js";
import { type OpenTelemetryResult, recordPool } from "../../src/meter-metrics.js";

type Callback = (result: OpenTelemetryResult) => void;

/** A meter whose `collect()` asks the observables, as OpenTelemetry's reader does. */
function fakeMeter(act: () => void = () => {}) {
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
    const { meter, made, records, collect } = fakeMeter();
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
    const { meter, records, collect, callbacks } = fakeMeter();
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
    const { meter, collect } = fakeMeter(() => {
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
    const { meter } = fakeMeter();
    expect(() => recordPool({} as never)).toThrow("meter must be an object with createHistogram()");
    expect(() => recordPool(undefined as never)).toThrow("meter must be an object with createHistogram()");
    expect(() => recordPool({ ...meter, createObservableGauge: () => ({}) as never })).toThrow(
      "meter.createObservableGauge() must return an object with removeCallback()",
    );
    expect(() => recordPool(meter).observe({} as never)).toThrow("pool must be a pool: pool=object");
    expect(() => recordPool(meter, { atributes: {} } as never)).toThrow(/attributes/);
  });
});
