/**
 * The cause of a stall.
 * - `machine`: an idle watcher thread was delayed at the same time, the thread waited for a core, or the idle thread was woken late.
 * - `gc`: garbage collection took at least half of the stall.
 * - `app`: the thread ran the app's own code, or the app's code blocked in a synchronous call.
 * - `unknown`: no source shows the cause; `because` names the missing sources.
 */
type StallCause = "machine" | "gc" | "app" | "unknown";
/** A script that ran during the stall, from the browser's long-animation-frame entry. */
interface ScriptShare {
    /** The script's address. Empty if the browser withholds it (cross-origin). */
    readonly url: string;
    readonly functionName: string;
    /** The caller of the script, such as `TimerHandler:setTimeout` or `BUTTON#send.onclick`. */
    readonly invoker: string;
    readonly durationMs: number;
    /** The part of `durationMs` that was spent in forced style and layout. */
    readonly layoutMs: number;
}
/** A stack that the watchdog sampled while the thread could not answer, innermost frame first. */
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
    /** The true length is `lengthMs` plus or minus this error. The error depends on how the stall was detected. */
    readonly errorMs: number;
    readonly cause: StallCause;
    /** The reason for this cause, in one sentence. */
    readonly because: string;
    /**
     * The time in this stall for which the machine ran other threads. The meter measures how long an idle watcher was delayed. On some
     * systems, the meter also knows how long this thread was ready but did not run, or how late it was woken. The longest of these counts.
     */
    readonly machineMs: number;
    /** The time in this stall for which garbage collection paused the thread. */
    readonly gcMs: number;
    readonly scripts: readonly ScriptShare[];
    readonly stacks: readonly StackSample[];
    readonly marks: readonly MarkShare[];
}
/** The two published ratings of a hitch ratio. `summarize.ts` has the limits. */
interface HitchVerdicts {
    /** In ms/s: up to 5 good, up to 10 warning, over 10 critical. */
    readonly strict: "good" | "warning" | "critical";
    /** In ms/s: up to 10 good, up to 25 fair, up to 50 poor, over 50 critical. */
    readonly lenient: "good" | "fair" | "poor" | "critical";
}
/** Hitch time at one frame rate, with the ratings. */
interface HitchReport {
    readonly hz: number;
    /** Milliseconds of hitch time per second of the run. */
    readonly msPerSecond: number;
    readonly verdicts: HitchVerdicts;
}
/** Expected and dropped frames at one frame rate. */
interface FrameReport {
    readonly hz: number;
    /** The number of frames that fit into the run. */
    readonly expected: number;
    readonly dropped: number;
    /** Whether the figures are computed from the stalls. They are if there are no real frames (Node, worker scopes, hidden pages). */
    readonly estimated: boolean;
}
/** The probability that an event waits longer than `overMs`. */
interface WaitShare {
    readonly overMs: number;
    /** Probability, 0 to 1, for an event at a random moment. */
    readonly share: number;
}
/** One quantile of the stalls' lengths. */
interface TailQuantile {
    readonly quantile: number;
    /** `null` if fewer than 20 stalls lie beyond this quantile, because the sample is too small. */
    readonly lengthMs: number | null;
}
/** The stalls with one cause: their number, the sum of their lengths, and the longest. */
interface CauseShare {
    readonly cause: StallCause;
    readonly stalls: number;
    readonly totalMs: number;
    readonly longestMs: number;
}
/** A source of evidence about stalls, such as the garbage collector's reports, and whether it is available on this host. */
interface SourceState {
    readonly name: string;
    readonly available: boolean;
    /** The reason why the source is not available. */
    readonly why?: string;
}
/**
 * The stalls of one run, and all figures computed from them. Plain data: `JSON.stringify` keeps everything.
 *
 * Every length is in milliseconds. `startMs` counts from `startedAt`. The reports of all languages have this form:
 * `spec/stalls.schema.json`.
 */
interface StallReport {
    readonly kind: "clearway-stalls";
    readonly version: 1;
    readonly host: "node" | "node-worker" | "browser" | "browser-worker" | "jvm" | "swift";
    readonly label?: string;
    /** The start of the run, in ISO 8601. */
    readonly startedAt: string;
    /** The time that `stalls` cover, without the time in which the page was hidden. The formula of `lagMeanMs` calls this time T. */
    readonly durationMs: number;
    /** The minimum length of a recorded stall. */
    readonly floorMs: number;
    /** Every recorded stall of the covered time, in order. */
    readonly stalls: readonly Stall[];
    /** The number of older stalls that were dropped to bound the memory. The covered time starts after the last dropped stall. */
    readonly droppedStalls: number;
    readonly longestMs: number;
    /**
     * The longest stall for which the app is responsible. Of a stall that the machine caused, it counts the time without `machineMs`: a
     * function of 300 ms that waited 400 ms for a core counts 300.
     */
    readonly ownLongestMs: number;
    /** Mean wait of an event that arrives at a random moment: the sum of b^2 / 2T over all stall lengths b. */
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
    /** The time for which the page was hidden. `durationMs` does not include this time. */
    readonly hiddenMs: number;
}

export type { CauseShare as C, FrameReport as F, HitchReport as H, MarkShare as M, StallReport as S, TailQuantile as T, WaitShare as W, HitchVerdicts as a, ScriptShare as b, SourceState as c, StackSample as d, Stall as e, StallCause as f };
