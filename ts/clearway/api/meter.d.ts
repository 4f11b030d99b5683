/** Options of {@link deviceFactor}. */
interface DeviceFactorOptions {
    /** The number of counted runs of the task. Default: 21. Each run takes about `referenceMs` times the factor. */
    readonly runs?: number;
}
/** The speed of this device, measured with the same task on every device. Plain data: store it to compare devices. */
interface DeviceFactor {
    readonly kind: "clearway-device-factor";
    readonly version: 1;
    /** `medianMs / referenceMs`: 2 means that this device takes twice as long as the reference. */
    readonly factor: number;
    readonly medianMs: number;
    readonly referenceMs: number;
    /** Quartiles of the runs. They show how certain the median is. */
    readonly p25Ms: number;
    readonly p75Ms: number;
    readonly runs: number;
}
/**
 * Measures this device's speed.
 *
 * The measurement blocks the thread for one run (some ms) at a time, and lets it answer in between. The factor covers only this kind of
 * work: integer and memory operations on one core. It does not cover a display, a disk or a network.
 */
declare function deviceFactor(options?: DeviceFactorOptions): Promise<DeviceFactor>;
/** A duration on another device, estimated by {@link scaleMs}. */
interface ScaledMs {
    readonly ms: number;
    /** The bounds come from the quartiles of both devices, because the factor itself is a measurement. */
    readonly lowMs: number;
    readonly highMs: number;
}
/** Estimates how long work of `ms` on the device `here` takes on `there`. Both devices must have been measured. */
declare function scaleMs(ms: number, here: DeviceFactor, there: DeviceFactor): ScaledMs;

/**
 * The remote side's answer. `remoteTimeMs` is the time of the remote clock, read once while the remote side handled the ping. The clock
 * may have any zero.
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
    /** The time between the starts of two pings. Default: 0, back to back. A ping that takes longer delays the next ping. */
    readonly intervalMs?: number;
    /** Ends the series early. The report covers the pings that returned. */
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
        /** `null` if fewer than 20 samples lie beyond the quantile. */
        readonly p50: number | null;
        readonly p90: number | null;
        readonly p99: number | null;
    };
    /** Present only if the remote side reports its time. */
    readonly oneWay?: OneWayReport;
}
/** Mean times of each direction, estimated from the remote clock. */
interface OneWayReport {
    /** The remote clock minus the local one. */
    readonly clockOffsetMs: number;
    /** The error of the offset and of each one-way time, plus or minus. It holds if neither clock drifts. */
    readonly errorMs: number;
    readonly thereMsMean: number;
    readonly backMsMean: number;
}
/**
 * Measures round trips to a target.
 *
 * Rejects with the target's own error if a ping fails. If the target never answers, the call waits for `signal`.
 */
declare function ping(target: PingTarget, options?: PingOptions): Promise<PingReport>;

/**
 * The cause of a stall.
 * - `machine`: an idle watcher thread was delayed at the same time, the thread waited for a core, or the idle thread was woken late.
 * - `gc`: garbage collection took most of the stall.
 * - `app`: the thread ran the app's own code, or blocked in a synchronous call of it.
 * - `unknown`: no source shows the cause; `because` names the missing sources.
 */
type StallCause = "machine" | "gc" | "app" | "unknown";
/** A script that ran in the stall, as the browser's long-animation-frame entry names it. */
interface ScriptShare {
    /** The script's address. Empty if the browser withholds it (cross-origin). */
    readonly url: string;
    readonly functionName: string;
    /** The caller of the script: `TimerHandler:setTimeout`, `BUTTON#send.onclick`, ... */
    readonly invoker: string;
    readonly durationMs: number;
    /** The part of `durationMs` that was spent in forced style and layout. */
    readonly layoutMs: number;
}
/** A stack that the watchdog sampled while the thread was held, innermost frame first. */
interface StackSample {
    readonly frames: readonly string[];
    /** Number of samples of this stall that show this exact stack. */
    readonly seen: number;
}
/** A `mark()` that was open during the stall. */
interface MarkShare {
    readonly label: string;
    readonly overlapMs: number;
}
/** An interval in which the thread could not answer an event. */
interface Stall {
    /** The time since the start of the run. */
    readonly startMs: number;
    readonly lengthMs: number;
    /** The true length is within `lengthMs` plus or minus this error. The error depends on the way of detection. */
    readonly errorMs: number;
    readonly cause: StallCause;
    /** The reason for this cause, in one sentence. */
    readonly because: string;
    /**
     * The time for which the machine ran other threads during this stall: instead of this thread if the system counts that, otherwise
     * instead of an idle watcher.
     */
    readonly machineMs: number;
    /** The time for which garbage collection paused the thread during this stall. */
    readonly gcMs: number;
    readonly scripts: readonly ScriptShare[];
    readonly stacks: readonly StackSample[];
    readonly marks: readonly MarkShare[];
}

/** Both published readings of a hitch ratio, as words. `model/hitch.ts` has the limits. */
interface HitchVerdicts {
    /** Up to 5 good, up to 10 warning, over 10 critical. */
    readonly strict: "good" | "warning" | "critical";
    /** Up to 10 good, up to 25 fair, up to 50 poor, over 50 critical. */
    readonly lenient: "good" | "fair" | "poor" | "critical";
}
/** Hitch time at one frame rate, with a verdict. */
interface HitchReport {
    readonly hz: number;
    /** Milliseconds of hitch per second of run. */
    readonly msPerSecond: number;
    readonly verdicts: HitchVerdicts;
}
/** Expected and dropped frames at one frame rate. */
interface FrameReport {
    readonly hz: number;
    /** The number of frames that fit into the run. */
    readonly expected: number;
    readonly dropped: number;
    /** Whether there are no real frames (Node, worker scopes, hidden pages), so that the figures are computed from the stalls. */
    readonly estimated: boolean;
}
/** The probability that an event waits longer than a limit. */
interface WaitShare {
    readonly overMs: number;
    /** Probability, 0 to 1, that an event at a random moment waits longer than `overMs`. */
    readonly share: number;
}
/** One quantile of the stalls' lengths. */
interface TailQuantile {
    readonly quantile: number;
    /** `null` if fewer than 20 stalls lie beyond this quantile, because the sample is too small. */
    readonly lengthMs: number | null;
}
/** Number and total length of the stalls with one cause. */
interface CauseShare {
    readonly cause: StallCause;
    readonly stalls: number;
    readonly totalMs: number;
}
/** A source of evidence, and whether it is available here. */
interface SourceState {
    readonly name: string;
    readonly available: boolean;
    /** The reason why the source is not available. */
    readonly why?: string;
}
/**
 * The stalls of one run, and all figures computed from them. Plain data: `JSON.stringify` keeps everything.
 *
 * Every length is in milliseconds. `startMs` counts from `startedAt`. All languages use this form: `spec/stalls.schema.json`.
 */
interface StallReport {
    readonly kind: "clearway-stalls";
    readonly version: 1;
    readonly host: "node" | "node-worker" | "browser" | "browser-worker" | "jvm";
    readonly label?: string;
    /** The time in ISO 8601. */
    readonly startedAt: string;
    /** T: the time that `stalls` cover, without the time in which the page was hidden. */
    readonly durationMs: number;
    /** The minimum length of a recorded stall. */
    readonly floorMs: number;
    /** Every recorded stall of the covered time, in order. */
    readonly stalls: readonly Stall[];
    /** The number of older stalls that were dropped to bound the memory. The covered time starts after the last of them. */
    readonly droppedStalls: number;
    readonly longestMs: number;
    /** Mean wait of an event that arrives at a random moment: sum of b^2 / 2T. */
    readonly lagMeanMs: number;
    /** The longest possible wait of an event. The same as `longestMs`. */
    readonly lagMaxMs: number;
    /** Sum of all stall lengths. */
    readonly stalledMs: number;
    readonly stallsPerMinute: number;
    readonly waits: readonly WaitShare[];
    readonly hitch: HitchReport;
    readonly frames: FrameReport;
    readonly worstSecond: {
        readonly startMs: number;
        readonly stalledMs: number;
    };
    readonly tail: readonly TailQuantile[];
    readonly causes: readonly CauseShare[];
    readonly sources: readonly SourceState[];
    /** The time for which the page was hidden. The run does not count it. */
    readonly hiddenMs: number;
}

/** Formats the report for a terminal: a sentence, the figures, and the longest stalls with their causes. No trailing newline. */
declare function formatReport(report: StallReport, options?: {
    readonly stallsMax?: number;
}): string;
/** Formats a ping's figures in one or two lines. */
declare function formatPing(report: PingReport): string;

/** An open label. It ends at the end of a `using` block, or by `end()`. */
interface Mark {
    /** Ends the label. Further calls do nothing. */
    end(): void;
    /** Ends the label at the end of a `using` block. */
    [Symbol.dispose](): void;
}
/**
 * Labels the work that runs from now on. Stalls in this time name the label.
 *
 * With a function, labels its run and returns its result. If the function returns a promise, the label ends when the promise settles. An
 * async label covers all work until it ends, even unrelated work. Reports therefore say "while" such a label, not "because".
 */
declare function mark(label: string): Mark;
declare function mark<R>(label: string, run: () => R): R;

/** Options of both `measure` and `watch`. */
interface MeterOptions {
    /** Frame rate used for hitches and estimated frames; default 60. */
    readonly hz?: number;
    /** Stalls shorter than this are not recorded; default 4 ms. */
    readonly floorMs?: number;
    readonly label?: string;
    /** Sample the stacks of a held thread (Node); default true. */
    readonly stacks?: boolean;
    /** Count the display's real frames (browser); default true. Keeps the page rendering: see docs/meter.md. */
    readonly frames?: boolean;
    /** Time between heartbeats. docs/meter.md describes how each host uses it. */
    readonly beatMs?: number;
}

/** Options of {@link measure}. */
interface MeasureOptions extends MeterOptions {
}
/** The result of {@link measure}: the function's value and the report of the run. */
interface Measurement<Value> {
    /** The function's return value, or the value of its promise. */
    readonly value: Value;
    /** The milliseconds from the call to the value. The same as `report.durationMs`, except for hidden time. */
    readonly runtimeMs: number;
    readonly report: StallReport;
    /** Returns the report as text, as {@link formatReport} does. */
    toString(): string;
}
/**
 * Runs a function once and reports how it stalled this thread.
 *
 * A function that blocks for 100 ms is one stall of 100 ms. For an async function, the meter finds stalls until its promise settles.
 * The report covers everything on this thread, including work that runs at the same time.
 *
 * Before the run, the call waits for the meter to start (a thread or worker: some 20 ms the first time). After the run, it waits for late
 * evidence (some tens of ms). Neither wait is counted. If the function throws, rejects with the function's own error. Rejects with
 * `RangeError` or `TypeError` for an invalid option.
 */
declare function measure<Value>(fn: () => Value | PromiseLike<Value>, options?: MeasureOptions): Promise<Measurement<Value>>;

/** Options of {@link watch}. */
interface WatchOptions extends MeterOptions {
    /**
     * The maximum number of stalls kept. Default: 10,000. Beyond that the oldest stalls are dropped, and the report covers the time after
     * them.
     */
    readonly stallsMax?: number;
    /** Receives each stall once its cause is known, up to 150 ms after the stall's end. Must not throw. */
    readonly onStall?: (stall: Stall) => void;
}
/** A running watch of this thread. Never keeps a process alive. */
interface Watch {
    /** Settles when every source runs or is known to be unavailable. Before that, the watch already finds stalls, but fewer causes. */
    readonly ready: Promise<void>;
    /** Returns the report so far. Each call computes it from the kept stalls in O(n log n). */
    report(): StallReport;
    /** Forgets all recorded stalls and begins a new run. */
    reset(): void;
    /** Stops watching. Every later `report()` returns the final report. Further calls do nothing. */
    stop(): void;
    /** Stops watching at the end of a `using` block. */
    [Symbol.dispose](): void;
}
/**
 * Watches this thread until the watch is stopped. docs/meter.md states its cost.
 *
 * Throws `RangeError` or `TypeError` for an invalid option, before it starts anything.
 */
declare function watch(options?: WatchOptions): Watch;

export { deviceFactor, formatPing, formatReport, mark, measure, ping, scaleMs, watch };
export type { CauseShare, DeviceFactor, DeviceFactorOptions, FrameReport, HitchReport, HitchVerdicts, Mark, MarkShare, MeasureOptions, Measurement, OneWayReport, PingAnswer, PingOptions, PingReport, PingSample, PingTarget, ScaledMs, ScriptShare, SourceState, StackSample, Stall, StallCause, StallReport, TailQuantile, WaitShare, Watch, WatchOptions };
