interface DeviceFactorOptions {
    /** Counted runs of the task; 21 unless told. Each takes about `referenceMs` times the factor. */
    readonly runs?: number;
}
/** How slow this device is, by a task that is the same everywhere. Plain data: keep it, and compare devices by it. */
interface DeviceFactor {
    readonly kind: "clearway-device-factor";
    readonly version: 1;
    /** `medianMs / referenceMs`: 2 means that this device takes twice as long as the reference. */
    readonly factor: number;
    readonly medianMs: number;
    readonly referenceMs: number;
    /** Quartiles of the runs: how sure the median is. */
    readonly p25Ms: number;
    readonly p75Ms: number;
    readonly runs: number;
}
/**
 * Measures this device. Blocks the thread in pieces of one run (some ms) and lets it answer in between. A factor
 * speaks of this task's kind of work, integer and memory operations on one core, not of a display, disk or network.
 */
declare function deviceFactor(options?: DeviceFactorOptions): Promise<DeviceFactor>;
interface ScaledMs {
    readonly ms: number;
    /** From the quartiles of both devices: the factor itself is a measurement. */
    readonly lowMs: number;
    readonly highMs: number;
}
/** What takes `ms` on the device `here` takes about this long `there`. Both must have been measured. */
declare function scaleMs(ms: number, here: DeviceFactor, there: DeviceFactor): ScaledMs;

/** What the far side answers. `remoteTimeMs` is its own clock, read once while it handled the ping; any zero will do. */
interface PingAnswer {
    readonly remoteTimeMs?: number;
}
/** A pool, a channel, or any function that goes there and back. */
type PingTarget = {
    ping(): Promise<PingAnswer | undefined>;
} | (() => Promise<unknown>);
interface PingOptions {
    /** Pings sent, one after another; 20 unless told. */
    readonly count?: number;
    /** Time between the start of one ping and of the next; 0, back to back, unless told. Sent late if the last took longer. */
    readonly intervalMs?: number;
    /** Ends the series early; what was measured is reported. */
    readonly signal?: AbortSignal;
    /** Called with each sample. Must not throw. */
    readonly onSample?: (sample: PingSample) => void;
}
interface PingSample {
    /** Since the first ping was sent. */
    readonly atMs: number;
    readonly roundTripMs: number;
    readonly remoteTimeMs?: number;
}
interface PingReport {
    readonly kind: "clearway-ping";
    readonly version: 1;
    readonly samples: readonly PingSample[];
    readonly roundTripMs: {
        readonly n: number;
        readonly min: number;
        readonly mean: number;
        readonly max: number;
        /** `null` where fewer than 20 samples lie beyond. */
        readonly p50: number | null;
        readonly p90: number | null;
        readonly p99: number | null;
    };
    /** Only where the far side tells its time. */
    readonly oneWay?: OneWayReport;
}
interface OneWayReport {
    /** Their clock minus ours. */
    readonly clockOffsetMs: number;
    /** The true offset, and with it each one-way time, lies within plus or minus this, as long as neither clock drifts. */
    readonly errorMs: number;
    readonly thereMsMean: number;
    readonly backMsMean: number;
}
/** Rejects with the target's own error if a ping fails; a target that never answers makes it wait for `signal`. */
declare function ping(target: PingTarget, options?: PingOptions): Promise<PingReport>;

/**
 * What held the thread.
 * - `machine`: an idle watcher thread was held up at the same time, or the thread was not woken although it had nothing to do.
 * - `gc`: garbage collection took most of it.
 * - `app`: the thread was running (or blocking in a synchronous call of) the app's own code.
 * - `unknown`: no source could tell; `because` says which sources were missing.
 */
type StallCause = "machine" | "gc" | "app" | "unknown";
/** A script that ran in the stall, as the browser's long-animation-frame entry names it. */
interface ScriptShare {
    /** Where the script came from; empty where the browser withholds it (cross-origin). */
    readonly url: string;
    readonly functionName: string;
    /** What called it: `TimerHandler:setTimeout`, `BUTTON#send.onclick`, ... */
    readonly invoker: string;
    readonly durationMs: number;
    /** Part of `durationMs` spent in forced style and layout. */
    readonly layoutMs: number;
}
/** A stack seen by the watchdog while the thread was held, innermost frame first. */
interface StackSample {
    readonly frames: readonly string[];
    /** How many samples of this stall showed this very stack. */
    readonly seen: number;
}
/** A `mark()` that was open during the stall. */
interface MarkShare {
    readonly label: string;
    readonly overlapMs: number;
}
/** An interval in which the thread could not answer an event. */
interface Stall {
    /** Since the start of the run. */
    readonly startMs: number;
    readonly lengthMs: number;
    /** The true length lies within `lengthMs` plus or minus this, by the way it was detected. */
    readonly errorMs: number;
    readonly cause: StallCause;
    /** One sentence: why this cause. */
    readonly because: string;
    /** How long the machine ran others during this stall: in place of this thread where that is counted, or of an idle watcher. */
    readonly machineMs: number;
    /** How long garbage collection paused the thread during this stall. */
    readonly gcMs: number;
    readonly scripts: readonly ScriptShare[];
    readonly stacks: readonly StackSample[];
    readonly marks: readonly MarkShare[];
}

/** Both published readings of a hitch ratio, in words. See `model/hitch.ts` for the limits. */
interface HitchVerdicts {
    /** 5 and under good, over 5 to 10 warning, over 10 critical. */
    readonly strict: "good" | "warning" | "critical";
    /** 10 and under good, to 25 fair, to 50 poor, over 50 critical. */
    readonly lenient: "good" | "fair" | "poor" | "critical";
}
interface HitchReport {
    readonly hz: number;
    /** Milliseconds of hitch per second of run. */
    readonly msPerSecond: number;
    readonly verdicts: HitchVerdicts;
}
interface FrameReport {
    readonly hz: number;
    /** Frames that the run had room for. */
    readonly expected: number;
    readonly dropped: number;
    /** True where no real frames exist (Node, worker scopes, hidden pages): computed from the stalls. */
    readonly estimated: boolean;
}
interface WaitShare {
    readonly overMs: number;
    /** Probability, 0 to 1, that an event arriving at a random moment waits longer than `overMs`. */
    readonly share: number;
}
interface TailQuantile {
    readonly quantile: number;
    /** `null` where fewer than 20 stalls lie beyond this quantile: the sample cannot carry it. */
    readonly lengthMs: number | null;
}
interface CauseShare {
    readonly cause: StallCause;
    readonly stalls: number;
    readonly totalMs: number;
}
/** A source of evidence, and whether it could be had here. */
interface SourceState {
    readonly name: string;
    readonly available: boolean;
    /** Why not, where it is not available. */
    readonly why?: string;
}
/**
 * One run's stalls and everything computed from them. Plain data: `JSON.stringify` keeps all of it.
 * Every length is in milliseconds; `startMs` counts from `startedAt`. The same in every language: `spec/stalls.schema.json`.
 */
interface StallReport {
    readonly kind: "clearway-stalls";
    readonly version: 1;
    readonly host: "node" | "node-worker" | "browser" | "browser-worker" | "jvm";
    readonly label?: string;
    /** ISO 8601. */
    readonly startedAt: string;
    /** T: the time covered by `stalls`; time while the page was hidden is left out. */
    readonly durationMs: number;
    /** Shorter stalls are not recorded. */
    readonly floorMs: number;
    /** Every recorded stall of the covered time, in order. */
    readonly stalls: readonly Stall[];
    /** Recorded earlier, then dropped to keep memory bounded; the covered time starts after the last of them. */
    readonly droppedStalls: number;
    readonly longestMs: number;
    /** Mean wait of an event that arrives at a random moment: sum of b^2 / 2T. */
    readonly lagMeanMs: number;
    /** Longest wait that any event could have met; the same as `longestMs`. */
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
    /** Time that the page was hidden, and the run did not count. */
    readonly hiddenMs: number;
}

/** The report for a terminal: a sentence, the figures, the longest stalls with their causes. No trailing newline. */
declare function formatReport(report: StallReport, options?: {
    readonly stallsMax?: number;
}): string;
/** A ping's figures in a line or two. */
declare function formatPing(report: PingReport): string;

/** An open label. Ends at the end of a `using` block, or by `end()`. */
interface Mark {
    end(): void;
    [Symbol.dispose](): void;
}
/**
 * Labels what runs from now on, so that stalls in this time name it. With a function: labels its run, to the
 * settling of its promise if it returns one, and gives back what it returns.
 *
 * An async label covers everything that runs until it ends, also what has nothing to do with it: such a label says
 * "while", not "because".
 */
declare function mark(label: string): Mark;
declare function mark<R>(label: string, run: () => R): R;

/** What `measure` and `watch` take alike. */
interface MeterOptions {
    /** Frame rate that hitches and estimated frames are computed for; 60 unless told. */
    readonly hz?: number;
    /** Stalls shorter than this are not recorded; 4 ms unless told. */
    readonly floorMs?: number;
    readonly label?: string;
    /** Sample the stacks of a held thread (Node); true unless told. */
    readonly stacks?: boolean;
    /** Count the display's real frames (browser); true unless told. Keeps the page rendering: see docs/meter.md. */
    readonly frames?: boolean;
    /** Time between heartbeats; see docs/meter.md for what each host needs it for. */
    readonly beatMs?: number;
}

interface MeasureOptions extends MeterOptions {
}
interface Measurement<Value> {
    /** What the function returned, or its promise's value. */
    readonly value: Value;
    /** From the call to the value, in milliseconds. The same as `report.durationMs`, but for hidden time. */
    readonly runtimeMs: number;
    readonly report: StallReport;
    toString(): string;
}
/**
 * Runs a function once and reports what it did to this thread. A function that blocks for 100 ms is one stall of
 * 100 ms; an async one has its stalls found until its promise settles. Everything on this thread counts, also what
 * runs besides the function.
 *
 * Waits for the meter's own start (a thread or worker: some 20 ms the first time) before, and for late evidence (some
 * tens of ms) after; neither is counted. Rejects with the function's own error if it throws, and with
 * `RangeError` or `TypeError` for an option that cannot be.
 */
declare function measure<Value>(fn: () => Value | PromiseLike<Value>, options?: MeasureOptions): Promise<Measurement<Value>>;

interface WatchOptions extends MeterOptions {
    /** Stalls kept; 10,000 unless told. Past it the oldest are dropped and the report covers the time after them. */
    readonly stallsMax?: number;
    /** Called with each stall once its cause is known: up to 150 ms after its end. Must not throw. */
    readonly onStall?: (stall: Stall) => void;
}
/** A running watch over this thread. Never keeps a process alive. */
interface Watch {
    /** Settles when every source runs or is known to be unavailable. Stalls are seen before that, with fewer causes. */
    readonly ready: Promise<void>;
    /** The report so far. Computed from the kept stalls on each call: O(n log n). */
    report(): StallReport;
    /** Begins anew: what was recorded is forgotten. */
    reset(): void;
    /** Stops watching. `report()` then gives the final report, again and again. Harmless if called twice. */
    stop(): void;
    [Symbol.dispose](): void;
}
/**
 * Watches this thread until it is stopped. Its own cost is in docs/meter.md. Throws `RangeError` or `TypeError` for an option
 * that cannot be, having started nothing.
 */
declare function watch(options?: WatchOptions): Watch;

export { deviceFactor, formatPing, formatReport, mark, measure, ping, scaleMs, watch };
export type { CauseShare, DeviceFactor, DeviceFactorOptions, FrameReport, HitchReport, HitchVerdicts, Mark, MarkShare, MeasureOptions, Measurement, PingAnswer, PingOptions, PingReport, PingSample, PingTarget, ScaledMs, ScriptShare, SourceState, StackSample, Stall, StallCause, StallReport, TailQuantile, WaitShare, Watch, WatchOptions };
