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
     * systems, the meter also knows how long this thread was ready but did not run. The longer of the two times counts.
     */
    readonly machineMs: number;
    /** The time in this stall for which garbage collection paused the thread. */
    readonly gcMs: number;
    readonly scripts: readonly ScriptShare[];
    readonly stacks: readonly StackSample[];
    readonly marks: readonly MarkShare[];
}

export type { MarkShare as M, ScriptShare as S, StackSample as a, Stall as b, StallCause as c };
