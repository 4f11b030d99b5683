// SPDX-License-Identifier: MIT OR Apache-2.0
import { OwnPromise } from "../../globals.js";
import { check, listener, type Rules } from "../options.js";
import type { Stall } from "../report.js";
import {
  AmountCounter,
  boundsS,
  type CounterName,
  causeAttribute,
  counters,
  disposable,
  hasFrames,
  type MetricsOptions,
  markAttribute,
  metricsDefaults,
  metricsRules,
  type StallScope,
  stallDuration,
} from "./instruments.js";
import { callBoundsS, callDuration, type PoolSource, phases, poolSeries, poolValues } from "./pool-series.js";

/** Attributes of a measurement. */
export type OpenTelemetryAttributes = Record<string, string | number | boolean>;

/** The part of OpenTelemetry's `Histogram` that the meter uses. */
export interface OpenTelemetryHistogram {
  /** Records one value, such as the length of a stall. */
  record(value: number, attributes?: OpenTelemetryAttributes): void;
}

/** The part of OpenTelemetry's `Counter` that the meter uses. */
export interface OpenTelemetryCounter {
  /** Adds a value of 0 or more. */
  add(value: number, attributes?: OpenTelemetryAttributes): void;
}

/** The part of OpenTelemetry's `Meter` that the meter uses. The object of `@opentelemetry/api` fits. */
export interface OpenTelemetryMeter {
  /** Returns a histogram. `advice` has the bounds of its buckets. */
  createHistogram(
    name: string,
    options?: { description?: string; unit?: string; advice?: { explicitBucketBoundaries?: number[] } },
  ): OpenTelemetryHistogram;
  /** Returns a counter that only grows. */
  createCounter(name: string, options?: { description?: string; unit?: string }): OpenTelemetryCounter;
}

/** Options of {@link recordStalls}. */
export interface OpenTelemetryOptions extends MetricsOptions {
  /** Attributes of every measurement, such as `{ "thread.name": "main" }`. */
  readonly attributes?: Readonly<OpenTelemetryAttributes> | undefined;
  /** Receives each error of an instrument. An error that this function throws is dropped. */
  readonly onError?: ((error: unknown) => void) | undefined;
}

/** A scope that gives its stalls to OpenTelemetry. */
export interface OpenTelemetryScope extends StallScope {
  /** The number of errors of instruments. The values of a failed call are lost. */
  readonly failures: number;
}

const object = ["an object", (value: unknown) => typeof value === "object" && value !== null] as const;
const rules: Rules = { ...metricsRules, attributes: object, onError: listener };

/** The attributes of the open scopes of each meter. Two scopes with the same attributes would count every stall twice. */
const openScopes = new WeakMap<OpenTelemetryMeter, Set<string>>();

/**
 * Creates the instruments and returns a scope that records stalls with them, at once and on this thread.
 *
 * An instrument that throws does not stop the watch, nor the other instruments: `onError` receives the error, and `failures` counts it.
 *
 * Throws `RangeError` or `TypeError` for an invalid option, `TypeError` for a meter whose instruments lack a method, `RangeError` if an
 * open scope of this meter has the same attributes, and what the meter throws.
 */
export function recordStalls(meter: OpenTelemetryMeter, options: OpenTelemetryOptions = {}): OpenTelemetryScope {
  check(options, rules);
  const { createHistogram, createCounter } = (meter ?? {}) as Partial<OpenTelemetryMeter>;
  if (typeof createHistogram !== "function" || typeof createCounter !== "function")
    throw new TypeError(
      `meter must be an object with createHistogram() and createCounter(): meter=${meter === null ? "null" : typeof meter}`,
    );
  const { hz = metricsDefaults.hz, marksMax = metricsDefaults.marksMax, onError } = options;
  const attributes: OpenTelemetryAttributes = { ...options.attributes };
  const histogram = required(
    "createHistogram",
    "record",
    meter.createHistogram(stallDuration.name, {
      description: stallDuration.description,
      unit: stallDuration.unit,
      advice: { explicitBucketBoundaries: [...boundsS] },
    }),
  );
  const frames = options.hz !== undefined || hasFrames();
  const made = Object.fromEntries(
    Object.entries(counters)
      .filter(([key]) => frames || (key !== "hitch" && key !== "frames"))
      .map(([key, { name, description, unit }]) => [
        key,
        required("createCounter", "add", meter.createCounter(name, { description, unit })),
      ]),
  ) as Partial<Record<CounterName, OpenTelemetryCounter>>;
  const release = claim(meter, attributes);
  const amounts = new AmountCounter(hz, marksMax);
  let open = true;
  let busy = false;
  let failures = 0;
  const failed = (error: unknown): void => {
    failures++;
    onError?.(error);
  };
  const onStall = (stall: Stall): void => {
    // An instrument that calls back with a stall would never end.
    if (!open || busy) return;
    busy = true;
    try {
      const { lengthS, marks, ...amount } = amounts.of(stall);
      guarded(() => histogram.record(lengthS, { ...attributes, [causeAttribute.openTelemetry]: stall.cause }), failed);
      for (const [key, value] of Object.entries(amount) as [Exclude<CounterName, "mark">, number][])
        if (value > 0) guarded(() => made[key]?.add(value, { ...attributes }), failed);
      for (const { label, timeS } of marks)
        guarded(() => made.mark?.add(timeS, { ...attributes, [markAttribute.openTelemetry]: label }), failed);
    } finally {
      busy = false;
    }
  };
  const close = (): void => {
    if (open) release();
    open = false;
  };
  const scope = {
    onStall,
    close,
    get failures() {
      return failures;
    },
  };
  return disposable(scope, close);
}

/** Runs code of an instrument. Gives each error to `failed`, whose own errors are dropped. */
function guarded(call: () => unknown, failed: ((error: unknown) => void) | undefined): void {
  const tell = (error: unknown): void => {
    try {
      failed?.(error);
    } catch {
      // Nothing is left that could receive this error.
    }
  };
  try {
    const returned = call();
    // An instrument that is really async must not end the process with an unhandled rejection.
    if (returned instanceof OwnPromise) returned.catch(tell);
  } catch (error) {
    tell(error);
  }
}

/** Returns the instrument. Throws `TypeError` if it lacks the method. */
function required<T extends object>(maker: string, method: keyof T & string, instrument: T): T {
  const found: unknown = (instrument as T | null | undefined)?.[method];
  if (typeof found !== "function")
    throw new TypeError(`meter.${maker}() must return an object with ${method}(): ${method}=${typeof found}`);
  return instrument;
}

/** Claims the attributes for one scope of the meter. Returns a function that releases them. */
function claim(meter: OpenTelemetryMeter, attributes: OpenTelemetryAttributes): () => void {
  const key = JSON.stringify(Object.entries(attributes).sort(([a], [b]) => (a < b ? -1 : 1)));
  const taken = openScopes.get(meter) ?? new Set();
  if (taken.has(key))
    throw new RangeError(`attributes must differ from those of every open scope of this meter: attributes=${key}`);
  openScopes.set(meter, taken.add(key));
  return () => void taken.delete(key);
}

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
  readonly attributes?: Readonly<OpenTelemetryAttributes> | undefined;
  /** Receives each error of an instrument. An error that this function throws is dropped. */
  readonly onError?: ((error: unknown) => void) | undefined;
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

const poolRules: Rules = { attributes: object, onError: listener };

/**
 * Creates OpenTelemetry's instruments for one pool: a histogram of the phases of its calls, and what `stats()` counts.
 *
 * Throws `RangeError` or `TypeError` for an invalid option, `TypeError` for a meter or instruments that lack a method, and what the meter
 * throws. An instrument that throws later does not disturb the pool: `onError` receives the error.
 */
export function recordPool(meter: OpenTelemetryPoolMeter, options: RecordPoolOptions = {}): PoolRecorder {
  check(options, poolRules);
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
