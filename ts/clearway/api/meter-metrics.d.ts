/// <reference lib="esnext.disposable" />
import { e as Stall } from './types-report.js';
export { M as MarkShare, b as ScriptShare, d as StackSample, f as StallCause } from './types-report.js';

/** Options of every exporter of metrics. */
interface MetricsOptions {
    /** Frame rate for hitches and dropped frames, in hertz. Default: 60 in a page. Elsewhere there are no frames, and no such series by default. */
    readonly hz?: number;
    /**
     * The maximum number of different mark labels per scope. Default: 100. The time of further labels counts for the label `_other`, so that
     * labels with unbounded values cannot fill the memory of an app or of a database.
     */
    readonly marksMax?: number;
}
/** The stalls of one thread, or of another part that is measured on its own. */
interface StallScope {
    /**
     * Counts a stall. Pass this function as `onStall` to `watch()`, or call it with the stalls of a report. Needs no `this`, never throws,
     * and does nothing after `close()`.
     */
    readonly onStall: (stall: Stall) => void;
    /** Ends the scope. Further calls do nothing. */
    close(): void;
    /** Ends the scope at the end of a `using` block. */
    [Symbol.dispose](): void;
}

/** The part of a pool's `stats()` that the metrics read. Any `Pool` has it. */
interface PoolSource {
    /** Returns a snapshot of the counters. */
    stats(): {
        readonly workers: {
            readonly size: number;
            readonly ready: number;
            readonly busy: number;
            readonly restarts: number;
        };
        readonly queue: {
            readonly items: number;
            readonly bytes: number;
        };
        readonly open: number;
        readonly tasks: Readonly<Record<string, PoolTask>>;
        readonly ledger: Readonly<Record<"toWorkers" | "fromWorkers", Readonly<Record<"movedBytes" | "sharedBytes" | "copiedBytes", number>>>>;
    };
}
interface PoolTask {
    readonly ok: number;
    readonly failed: number;
    readonly cancelled: number;
    readonly errors: Readonly<Record<string, number>>;
    readonly queueUs?: Phase;
    readonly transitUs?: Phase;
    readonly runUs?: Phase;
    readonly returnUs?: Phase;
}
interface Phase {
    readonly count: number;
    readonly mean: number;
    readonly buckets: readonly number[];
}
/** The phases, by the names of their fields. */
declare const phases: {
    readonly queueUs: "queue";
    readonly transitUs: "transit";
    readonly runUs: "run";
    readonly returnUs: "return";
};

/** Attributes of a measurement. */
type OpenTelemetryAttributes = Record<string, string | number | boolean>;
/** The part of OpenTelemetry's `Histogram` that the meter uses. */
interface OpenTelemetryHistogram {
    /** Records one value, such as the length of a stall. */
    record(value: number, attributes?: OpenTelemetryAttributes): void;
}
/** The part of OpenTelemetry's `Counter` that the meter uses. */
interface OpenTelemetryCounter {
    /** Adds a value of 0 or more. */
    add(value: number, attributes?: OpenTelemetryAttributes): void;
}
/** The part of OpenTelemetry's `Meter` that the meter uses. The object of `@opentelemetry/api` fits. */
interface OpenTelemetryMeter {
    /** Returns a histogram. `advice` has the bounds of its buckets. */
    createHistogram(name: string, options?: {
        description?: string;
        unit?: string;
        advice?: {
            explicitBucketBoundaries?: number[];
        };
    }): OpenTelemetryHistogram;
    /** Returns a counter that only grows. */
    createCounter(name: string, options?: {
        description?: string;
        unit?: string;
    }): OpenTelemetryCounter;
}
/** Options of {@link recordStalls}. */
interface OpenTelemetryOptions extends MetricsOptions {
    /** Attributes of every measurement, such as `{ "thread.name": "main" }`. */
    readonly attributes?: Readonly<OpenTelemetryAttributes>;
    /** Receives each error of an instrument. An error that this function throws is dropped. */
    readonly onError?: (error: unknown) => void;
}
/** A scope that gives its stalls to OpenTelemetry. */
interface OpenTelemetryScope extends StallScope {
    /** The number of errors of instruments. The values of a failed call are lost. */
    readonly failures: number;
}
/**
 * Creates the instruments and returns a scope that records stalls with them, at once and on this thread.
 *
 * An instrument that throws does not stop the watch, nor the other instruments: `onError` receives the error, and `failures` counts it.
 *
 * Throws `RangeError` or `TypeError` for an invalid option, `TypeError` for a meter whose instruments lack a method, `RangeError` if an
 * open scope of this meter has the same attributes, and what the meter throws.
 */
declare function recordStalls(meter: OpenTelemetryMeter, options?: OpenTelemetryOptions): OpenTelemetryScope;
/** The part of OpenTelemetry's `ObservableResult` that the pool's metrics use. */
interface OpenTelemetryResult {
    /** Reports one value. */
    observe(value: number, attributes?: OpenTelemetryAttributes): void;
}
/** The part of OpenTelemetry's `Observable` that the pool's metrics use. */
interface OpenTelemetryObservable {
    /** Adds a function that reports values whenever OpenTelemetry collects. */
    addCallback(callback: (result: OpenTelemetryResult) => void): void;
    /** Removes such a function. */
    removeCallback(callback: (result: OpenTelemetryResult) => void): void;
}
/** The part of OpenTelemetry's `Meter` that the pool's metrics use. */
interface OpenTelemetryPoolMeter extends OpenTelemetryMeter {
    /** Returns an instrument for values that go up and down. */
    createObservableGauge(name: string, options?: {
        description?: string;
        unit?: string;
    }): OpenTelemetryObservable;
    /** Returns an instrument for sums that only grow. */
    createObservableCounter(name: string, options?: {
        description?: string;
        unit?: string;
    }): OpenTelemetryObservable;
}
/** Options of {@link recordPool}. */
interface RecordPoolOptions {
    /** Attributes of every measurement, such as `{ pool: "images" }`. */
    readonly attributes?: Readonly<OpenTelemetryAttributes>;
    /** Receives each error of an instrument. An error that this function throws is dropped. */
    readonly onError?: (error: unknown) => void;
}
/** Records the metrics of one pool with OpenTelemetry. */
interface PoolRecorder {
    /** Records the times of a call. Pass it to the pool: `pool(url, { metrics: recorder.onCall })`. Needs no `this` and never throws. */
    readonly onCall: (call: {
        readonly task: string;
    } & Readonly<Record<keyof typeof phases, number>>) => void;
    /** Starts to report the pool's workers, queue, calls, errors by code and bytes, whenever OpenTelemetry collects. May be called once. */
    observe(pool: PoolSource): void;
    /** Ends the reports. */
    close(): void;
    /** Ends the reports at the end of a `using` block. */
    [Symbol.dispose](): void;
}
/**
 * Creates OpenTelemetry's instruments for one pool: a histogram of the phases of its calls, and what `stats()` counts.
 *
 * Throws `RangeError` or `TypeError` for an invalid option, `TypeError` for a meter or instruments that lack a method, and what the meter
 * throws. An instrument that throws later does not disturb the pool: `onError` receives the error.
 */
declare function recordPool(meter: OpenTelemetryPoolMeter, options?: RecordPoolOptions): PoolRecorder;

/** Metrics as text, for the response of a `/metrics` endpoint. */
interface Exposition {
    /** The value for the response header `content-type`. */
    readonly contentType: string;
    readonly body: string;
}
/** Options of {@link stallMetrics}. */
interface StallMetricsOptions extends MetricsOptions {
    /** The maximum number of open scopes. Default: 1000. */
    readonly scopesMax?: number;
}
/** The metrics of all scopes of a process, for a `/metrics` endpoint. */
interface StallMetrics {
    /**
     * Adds a pool: its workers, queue, calls, errors by code and bytes, and with the pool's option `metrics` the times of its calls, in buckets.
     * The samples carry `labels`, such as `{ pool: "images" }`. Reads `stats()` for each exposition, and nothing between. Returns a function
     * that removes the pool.
     *
     * Throws as `scope` does, if another pool has these labels.
     */
    pool(pool: PoolSource, labels?: Readonly<Record<string, string>>): () => void;
    /**
     * Opens a scope whose samples carry `labels`, such as `{ thread: "main" }`. A closed scope disappears from the metrics, and its labels
     * can be used again. An empty value counts as no label, as in Prometheus.
     *
     * Throws `RangeError` for a label name that Prometheus does not allow, for the labels of an open scope, and if there are `scopesMax`
     * scopes. Throws `TypeError` for a value that is not a string.
     */
    scope(labels?: Readonly<Record<string, string>>): StallScope;
    /**
     * Returns the metrics as text: OpenMetrics if the request header `accept` prefers it, otherwise the older format of Prometheus. The text
     * is a snapshot; scopes may open and close while it is sent.
     */
    exposition(accept?: string): Exposition;
}
/**
 * Makes metrics for Prometheus. They count from the moment at which a scope opens. Counting a stall takes microseconds; no timer and no
 * thread runs.
 *
 * Throws `RangeError` or `TypeError` for an invalid option.
 */
declare function stallMetrics(options?: StallMetricsOptions): StallMetrics;

export { Stall, recordPool, recordStalls, stallMetrics };
export type { Exposition, MetricsOptions, OpenTelemetryAttributes, OpenTelemetryCounter, OpenTelemetryHistogram, OpenTelemetryMeter, OpenTelemetryObservable, OpenTelemetryOptions, OpenTelemetryPoolMeter, OpenTelemetryResult, OpenTelemetryScope, PoolRecorder, PoolSource, RecordPoolOptions, StallMetrics, StallMetricsOptions, StallScope };
