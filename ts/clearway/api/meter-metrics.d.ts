import { b as Stall } from './types-stall.js';
export { M as MarkShare, S as ScriptShare, a as StackSample, c as StallCause } from './types-stall.js';

/** Options of every exporter of metrics. */
interface MetricsOptions {
    /** Frame rate for hitches and dropped frames, in hertz. Default: 60. */
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

export { Stall, recordStalls, stallMetrics };
export type { Exposition, MetricsOptions, OpenTelemetryAttributes, OpenTelemetryCounter, OpenTelemetryHistogram, OpenTelemetryMeter, OpenTelemetryOptions, OpenTelemetryScope, StallMetrics, StallMetricsOptions, StallScope };
