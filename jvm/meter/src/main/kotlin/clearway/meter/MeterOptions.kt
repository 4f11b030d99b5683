// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.meter

import java.util.function.Consumer

/**
 * Options of [Meter.watch] and [Meter.measure]. Set them before use, on one thread at a time.
 *
 * A setter throws `IllegalArgumentException` for a number out of range. The message contains the number.
 */
public class MeterOptions {
    internal var hz = 60.0
    internal var floorMs = FLOOR_MS
    internal var label: String? = null
    internal var stacks = true
    internal var beatMs: Double? = null
    internal var stallsMax = STALLS_MAX
    internal var onStall: Consumer<in Stall>? = null

    /** Sets the frame rate for hitches and estimated frames, in Hz. Default: 60. */
    public fun hz(hz: Double): MeterOptions = apply {
        require(hz > 0 && hz <= 1000) { "hz must be over 0, at most 1000: hz=$hz" }
        this.hz = hz
    }

    /** Sets the length of the shortest stall that is recorded, in ms. Default: 4 ms. */
    public fun floorMs(floorMs: Double): MeterOptions = apply {
        require(floorMs >= 1 && floorMs.isFinite()) { "floorMs must be 1 or more: floorMs=$floorMs" }
        this.floorMs = floorMs
    }

    /** Sets the name of this run in the report. */
    public fun label(label: String): MeterOptions = apply { this.label = label }

    /** Sets whether the meter samples the stack of a blocked thread. Default: true. */
    public fun stacks(stacks: Boolean): MeterOptions = apply { this.stacks = stacks }

    /**
     * Sets the time between beats, in ms. Default: 2 ms for a watch, 1 ms for a measurement. The error of a stall's
     * start is plus or minus half of this time.
     */
    public fun beatMs(beatMs: Double): MeterOptions = apply {
        require(beatMs in 1.0..1000.0) { "beatMs must be 1 to 1000: beatMs=$beatMs" }
        this.beatMs = beatMs
    }

    /**
     * Sets the maximum number of stalls that are kept. Default: 10,000. If there are more, the oldest are dropped, and
     * the report covers the time after them.
     */
    public fun stallsMax(stallsMax: Int): MeterOptions = apply {
        require(stallsMax >= 1) { "stallsMax must be 1 or more: stallsMax=$stallsMax" }
        this.stallsMax = stallsMax
    }

    /**
     * Sets a function that gets each stall of a watch, 0.1 s after the stall's end, when the cause is known. A daemon
     * thread of the watch calls it, for one stall at a time, in order. The function may be slow: the meter continues to
     * observe. At most 1,024 stalls wait for the function; further ones replace the oldest. The report has all of them.
     * [StallWatch.close] waits for the function, at most a second. Exceptions of the function go to the thread's
     * uncaught-exception handler.
     */
    public fun onStall(onStall: Consumer<in Stall>): MeterOptions = apply { this.onStall = onStall }

    internal companion object {
        /**
         * Default of `floorMs`: about a quarter of a frame at 60 Hz. A shorter stall costs no frame even at 240 Hz, and
         * hitch ratios up to 250 Hz stay exact.
         */
        const val FLOOR_MS = 4.0
        /**
         * Default of `stallsMax`. That many explained stalls take at most about 3 MB. At one stall a second, they cover
         * almost three hours.
         */
        const val STALLS_MAX = 10_000
        /**
         * Default of `beatMs` for a watch. The error of a stall's start is plus or minus 1 ms. The README states the
         * cost.
         */
        const val BEAT_MS = 2.0
        /**
         * Default of `beatMs` for a measurement, which is short. The error of a stall's start is plus or minus 0.5 ms.
         */
        const val BEAT_MS_BRIEF = 1.0
    }
}
