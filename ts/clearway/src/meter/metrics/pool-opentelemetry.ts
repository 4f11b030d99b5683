// SPDX-License-Identifier: MIT OR Apache-2.0
import { check, listener, type Rules } from "../checked.js";
import { guarded, type OpenTelemetryAttributes, type OpenTelemetryMeter, required } from "./opentelemetry.js";
import { disposable } from "./options.js";
import { callBoundsS, callDuration, type PoolSource, phases, poolSeries, poolValues } from "./pool-series.js";

/** The part of OpenTelemetry's `ObservableResult` that the pool's metrics use. */
export interface OpenTelemetryResult {
  /** Reports one value. */
  observe(value: number, attributes?: OpenTelemetryAttributes): void;
}

/** The part of OpenTelemetry's `Observable` that the pool's metrics use. */
export interface OpenTelemetryObservable {
  /** Adds a function that reports values whenever OpenTelemetry collects. */
  addCallback(callback: (result: OpenTelemetryResult) => void): void;
  /** Removes such a function. */
  removeCallback(callback: (result: OpenTelemetryResult) => void): void;
}

/** The part of OpenTelemetry's `Meter` that the pool's metrics use. */
export interface OpenTelemetryPoolMeter extends OpenTelemetryMeter {
  /** Returns an instrument for values that go up and down. */
  createObservableGauge(name: string, options?: { description?: string; unit?: string }): OpenTelemetryObservable;
  /** Returns an instrument for sums that only grow. */
  createObservableCounter(name: string, options?: { description?: string; unit?: string }): OpenTelemetryObservable;
}

/** Options of {@link recordPool}. */
export interface RecordPoolOptions {
  /** Attributes of every measurement, such as `{ pool: "images" }`. */
  readonly attributes?: Readonly<OpenTelemetryAttributes>;
  /** Receives each error of an instrument. An error that this function throws is dropped. */
  readonly onError?: (error: unknown) => void;
}

/** Records the metrics of one pool with OpenTelemetry. */
export interface PoolRecorder {
  /** Records the times of a call. Pass it to the pool: `pool(url, { metrics: recorder.onCall })`. Needs no `this` and never throws. */
  readonly onCall: (call: { readonly task: string } & Readonly<Record<keyof typeof phases, number>>) => void;
  /** Starts to report the pool's workers, queue, calls, errors by code and bytes, whenever OpenTelemetry collects. May be called once. */
  observe(pool: PoolSource): void;
  /** Ends the reports. */
  close(): void;
  /** Ends the reports at the end of a `using` block. */
  [Symbol.dispose](): void;
}

const object = ["an object", (value: unknown) => typeof value === "object" && value !== null] as const;
const rules: Rules = { attributes: object, onError: listener };

/**
 * Creates OpenTelemetry's instruments for one pool: a histogram of the phases of its calls, and what `stats()` counts.
 *
 * Throws `RangeError` or `TypeError` for an invalid option, `TypeError` for a meter or instruments that lack a method, and what the meter
 * throws. An instrument that throws later does not disturb the pool: `onError` receives the error.
 */
export function recordPool(meter: OpenTelemetryPoolMeter, options: RecordPoolOptions = {}): PoolRecorder {
  check(options, rules);
  for (const maker of ["createHistogram", "createObservableGauge", "createObservableCounter"] as const)
    if (typeof meter?.[maker] !== "function") throw new TypeError(`meter must be an object with ${maker}()`);
  const { attributes = {}, onError } = options;
  const { name, unit, description } = callDuration;
  const histogram = required(
    "createHistogram",
    "record",
    meter.createHistogram(name, { unit, description, advice: { explicitBucketBoundaries: [...callBoundsS] } }),
  );
  let watched: PoolSource | undefined;
  let open = true;
  const observed = Object.entries(poolSeries).map(([key, series]) => {
    const maker = series.kind === "gauge" ? "createObservableGauge" : "createObservableCounter";
    const made = meter[maker](series.name, { unit: series.unit, description: series.description });
    const observable = required(maker, "addCallback", required(maker, "removeCallback", made));
    const callback = (result: OpenTelemetryResult): void => {
      guarded(() => {
        if (!watched) return;
        for (const [of, own, value] of poolValues(watched.stats()))
          if (of === key) result.observe(value, { ...attributes, ...Object.fromEntries(own) });
      }, onError);
    };
    return { observable, callback };
  });
  const close = (): void => {
    if (watched)
      for (const { observable, callback } of observed) guarded(() => observable.removeCallback(callback), onError);
    watched = undefined;
    open = false;
  };
  return disposable(
    {
      onCall(call: Parameters<PoolRecorder["onCall"]>[0]): void {
        if (!open) return;
        for (const [field, phase] of Object.entries(phases)) {
          const seconds = call[field as keyof typeof phases] / 1e6;
          guarded(() => histogram.record(seconds, { ...attributes, task: call.task, phase }), onError);
        }
      },
      observe(pool: PoolSource): void {
        if (typeof pool?.stats !== "function") throw new TypeError(`pool must be a pool: pool=${typeof pool}`);
        if (watched || !open) throw new RangeError("a recorder observes one pool: make another one with recordPool()");
        watched = pool;
        for (const { observable, callback } of observed) observable.addCallback(callback);
      },
      close,
    },
    close,
  );
}
