/// <reference lib="esnext.disposable" />
import { S as StallReport, e as Stall } from './types-report.js';
export { C as CauseShare, F as FrameReport, H as HitchReport, a as HitchVerdicts, M as MarkShare, b as ScriptShare, c as SourceState, d as StackSample, f as StallCause, T as TailQuantile, W as WaitShare } from './types-report.js';

/** Options of both `measure` and `watch`. */
interface MeterOptions {
    /** Frame rate for hitches and for estimated frames, in hertz. Default: 60. */
    readonly hz?: number;
    /** Minimum length of a recorded stall, in milliseconds. Default: 4. */
    readonly floorMs?: number;
    readonly label?: string;
    /** Whether to sample the stacks of a blocked thread (Node). Default: true. */
    readonly stacks?: boolean;
    /** Whether to count the display's real frames (browser). Default: true. Counting keeps the page rendering: see docs/meter.md. */
    readonly frames?: boolean;
    /** Time between heartbeats, in milliseconds. docs/meter.md describes how each host uses this time. */
    readonly beatMs?: number;
}

/**
 * Converts a report to another device's time: every stall gets `ratio` times as long, and all figures are computed again.
 *
 * `ratio` is how many times as long the same work takes on that device: `ratio` in a file of `clearway ratio`, or
 * `there.factor / here.factor` of two device factors. The time between stalls stays the same. The frames are estimated, because the display
 * of that device was not there. The floor grows with the stalls: stalls that were too short here are missing, so measure with a small
 * `floorMs`. The label of the result names the ratio.
 *
 * Returns new data and leaves `report` as it is. Throws `RangeError` if `ratio` is not a number over 0, at most 1000.
 */
declare function scaleReport(report: StallReport, ratio: number): StallReport;
/** Options of {@link deviceFactor}. */
interface DeviceFactorOptions {
    /** The number of counted runs of the task. Default: 21. Each run takes about `referenceMs` times the device's factor. */
    readonly runs?: number;
}
/** The speed of a device, measured with the same task on every device. Plain data: store it to compare devices. */
interface DeviceFactor {
    readonly kind: "clearway-device-factor";
    readonly version: 1;
    /** `medianMs / referenceMs`: 2 means that this device takes twice as long as the reference. */
    readonly factor: number;
    readonly medianMs: number;
    readonly referenceMs: number;
    /** Quartile of the runs' times. The distance between both quartiles shows how certain the median is. */
    readonly p25Ms: number;
    readonly p75Ms: number;
    readonly runs: number;
}
/**
 * Measures this device's speed.
 *
 * The measurement blocks the thread for one run at a time, which takes a few milliseconds; 13 ms if the clock steps 1 ms. Between two runs
 * the thread can handle events. Rejects with a RangeError if the clock steps more than 5 ms.
 * The factor covers only one kind of work: integer and memory operations on one core. The factor does not cover a display, a disk or a
 * network.
 */
declare function deviceFactor(options?: DeviceFactorOptions): Promise<DeviceFactor>;
/** A duration on another device, estimated by {@link scaleMs}. */
interface ScaledMs {
    readonly ms: number;
    /** Lower bound, from the quartiles of both devices. */
    readonly lowMs: number;
    readonly highMs: number;
}
/**
 * Estimates how long work of `ms` on the device `here` takes on `there`. Both devices must have been measured. Throws `RangeError` if the
 * ratio of their medians is not a number over 0, at most 1000, such as for a damaged file.
 */
declare function scaleMs(ms: number, here: DeviceFactor, there: DeviceFactor): ScaledMs;

/**
 * The remote side's answer. The remote side reads `remoteTimeMs` from its clock once, while it handles the ping. The clock may have any
 * zero point.
 */
interface PingAnswer {
    readonly remoteTimeMs?: number;
}
/** A pool, a channel, or any function that makes a round trip. */
type PingTarget = {
    /** Makes one round trip. */
    ping(): Promise<PingAnswer | undefined>;
} | (() => Promise<unknown>);
/** Options of {@link ping}. */
interface PingOptions {
    /** The number of pings, sent one after another. Default: 20. */
    readonly count?: number;
    /** The time between the starts of two pings. Default: 0, without a pause. A ping that takes longer delays the next ping. */
    readonly intervalMs?: number;
    /** Ends the series early. The report covers the pings that have returned. */
    readonly signal?: AbortSignal;
    /** Called with each sample. Must not throw. */
    readonly onSample?: (sample: PingSample) => void;
}
/** One round trip. */
interface PingSample {
    /** The time since the first ping was sent. */
    readonly atMs: number;
    readonly roundTripMs: number;
    readonly remoteTimeMs?: number;
}
/** The round trips of one {@link ping}, with their distribution. Plain data. */
interface PingReport {
    readonly kind: "clearway-ping";
    readonly version: 1;
    readonly samples: readonly PingSample[];
    readonly roundTripMs: {
        readonly n: number;
        readonly min: number;
        readonly mean: number;
        readonly max: number;
        /** Quantile. `null` if fewer than 20 samples lie beyond it. */
        readonly p50: number | null;
        readonly p90: number | null;
        readonly p99: number | null;
    };
    /** Present only if the remote side reports its time. */
    readonly oneWay?: OneWayReport;
}
/** Mean times of each direction, estimated from the remote clock. */
interface OneWayReport {
    /** The remote clock minus the local clock. */
    readonly clockOffsetMs: number;
    /** The error of the offset and of each one-way time, plus or minus. Valid if neither clock drifts, and if the remote clock has no larger steps. */
    readonly errorMs: number;
    readonly thereMsMean: number;
    readonly backMsMean: number;
}
/**
 * Measures round trips to a target.
 *
 * If a ping fails, rejects with the target's own error. If the target never answers, the call waits until `signal` aborts.
 */
declare function ping(target: PingTarget, options?: PingOptions): Promise<PingReport>;

/** Formats a report for a terminal: a sentence, the figures, and the longest stalls with their causes. Adds no newline at the end. */
declare function formatReport(report: StallReport, options?: {
    readonly stallsMax?: number;
}): string;
/** Formats the figures of a ping in one or two lines. */
declare function formatPing(report: PingReport): string;

/** An open label. It ends at the end of a `using` block, or when `end()` is called. */
interface Mark {
    /** Ends the label. Further calls do nothing. */
    end(): void;
    /** Ends the label at the end of a `using` block. */
    [Symbol.dispose](): void;
}
/**
 * Labels the work that runs from now on. Stalls in this time carry the label.
 *
 * With a function, labels the function's run and returns its result. If the function returns a promise, the label ends when the promise
 * settles. The label of an async function covers all work on this thread until then, even unrelated work. A report therefore says that a
 * stall fell into the mark, not that the labelled work caused the stall.
 */
declare function mark(label: string): Mark;
declare function mark<R>(label: string, run: () => R): R;

/** Options of {@link measure}. */
interface MeasureOptions extends MeterOptions {
}
/** The result of {@link measure}: the function's value and the report of the run. */
interface Measurement<Value> {
    /** The function's return value, or the value of its promise. */
    readonly value: Value;
    /**
     * The time from the call to the value, in milliseconds. `report.durationMs` is the same time, less the time in which the page was hidden.
     */
    readonly runtimeMs: number;
    readonly report: StallReport;
    /** Returns the report as text, like {@link formatReport}. */
    toString(): string;
}
/**
 * Runs a function once and reports how it stalled this thread.
 *
 * A function that blocks for 100 ms is one stall of 100 ms. For an async function, the meter finds stalls until its promise settles.
 * The report covers everything on this thread, including other work that runs at the same time.
 *
 * Before the run, the call waits until the meter has started a thread or worker. That takes about 20 ms the first time. After the run, the
 * call waits some tens of milliseconds for reports that arrive late, such as garbage collections, which explain the stalls. The measured
 * time includes neither wait.
 *
 * If the function throws, rejects with the function's own error. Rejects with `RangeError` or `TypeError` for an invalid option.
 */
declare function measure<Value>(fn: () => Value | PromiseLike<Value>, options?: MeasureOptions): Promise<Measurement<Value>>;
/** Options of {@link measureFrameDrops}. */
interface FrameDropsOptions {
    /** Frame rate, in hertz. Default: 60. */
    readonly hz?: number;
}
/** A lag that is longer than a frame. */
interface FrameDrop {
    /** Start of the lag, in milliseconds since the call. */
    readonly startMs: number;
    readonly lagMs: number;
}
/** The result of {@link measureFrameDrops}. */
interface FrameDrops<Value> {
    /** The function's return value, or the value of its promise. */
    readonly value: Value;
    readonly hz: number;
    /** The time between two frames, in milliseconds. */
    readonly frameMs: number;
    /** The time from the call to the value, in milliseconds. */
    readonly totalMs: number;
    /** Number of lags: one for each probe, and one that ends with the function. */
    readonly probes: number;
    readonly lagMeanMs: number;
    /** The longest lag, in milliseconds. An event that arrived at its begin waited that long. */
    readonly lagMaxMs: number;
    /** Dropped frames as the meter counts them: the sum of max(0, lag / frame - 1), rounded once. */
    readonly dropped: number;
    /** Dropped frames as the published function counts them: a frame has 1000 / hz whole milliseconds, and a longer lag drops all that it began. */
    readonly droppedAsPublished: number;
    /** The lags that are longer than a frame, in order. */
    readonly drops: readonly FrameDrop[];
    /** All lags, in milliseconds and in order. */
    readonly lagsMs: readonly number[];
    /** One line: "Jank: 59 frames dropped, max lag 1001 ms", or "Smooth: max lag 8 ms, average 2 ms, 564 probes". */
    readonly verdict: string;
}
/**
 * Runs a function once, and probes its thread meanwhile with a timer of 1 ms. A lag is the time between two probes; the last one ends when the
 * function settles.
 *
 * Starts no thread, and does not say what caused a lag: {@link measure} does. Waits for nothing but the function. Rejects with the
 * function's own error. Rejects with `RangeError` or `TypeError` for an invalid argument.
 */
declare function measureFrameDrops<Value>(fn: () => Value | PromiseLike<Value>, options?: FrameDropsOptions): Promise<FrameDrops<Value>>;

/** Options of {@link watch}. */
interface WatchOptions extends MeterOptions {
    /**
     * The maximum number of kept stalls. Default: 10,000. Beyond that number the oldest stalls are dropped. The report then covers the time
     * after the last dropped stall.
     */
    readonly stallsMax?: number;
    /** Receives each stall once its cause is known, up to 150 ms after the stall's end. Must not throw. */
    readonly onStall?: (stall: Stall) => void;
}
/** A running watch of this thread. A watch keeps no process alive, except while a promise from `ready` is pending. */
interface Watch {
    /** Settles when each source of evidence runs or is known to be unavailable. Until then, the watch finds stalls but fewer causes. */
    readonly ready: Promise<void>;
    /** Returns the report so far. Each call computes the report from the kept stalls, in O(n log n). */
    report(): StallReport;
    /** Forgets all recorded stalls and begins a new run. */
    reset(): void;
    /** Stops watching. After this, `report()` returns the final report, and further calls of `stop()` do nothing. */
    stop(): void;
    /** Stops watching at the end of a `using` block. */
    [Symbol.dispose](): void;
}
/**
 * Watches this thread until `stop()` is called. docs/meter.md states the cost of a watch.
 *
 * Throws `RangeError` or `TypeError` for an invalid option, before it starts anything.
 */
declare function watch(options?: WatchOptions): Watch;

export { Stall, StallReport, deviceFactor, formatPing, formatReport, mark, measure, measureFrameDrops, ping, scaleMs, scaleReport, watch };
export type { DeviceFactor, DeviceFactorOptions, FrameDrop, FrameDrops, FrameDropsOptions, Mark, MeasureOptions, Measurement, OneWayReport, PingAnswer, PingOptions, PingReport, PingSample, PingTarget, ScaledMs, Watch, WatchOptions };
