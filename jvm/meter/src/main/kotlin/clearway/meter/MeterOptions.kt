// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.meter

import java.util.function.Consumer

/**
 * Options of [Meter.watch] and [Meter.measure]. Set them before use, on one thread at a time.
 *
 * Every setter throws `IllegalArgumentException` for a value out of range. The message contains the value.
 */
public class MeterOptions {
    internal var hz = 60.0
    internal var floorMs = FLOOR_MS
    internal var label: String? = null
    internal var stacks = true
    internal var beatMs: Double? = null
    internal var stallsMax = STALLS_MAX
    internal var onStall: Consumer<in Stall>? = null

    /** Frame rate for hitches and estimated frames. Default: 60. */
    public fun hz(hz: Double): MeterOptions = apply {
        require(hz > 0 && hz <= 1000) { "hz must be over 0, at most 1000: hz=$hz" }
        this.hz = hz
    }

    /** Shortest stall that is recorded. Default: 4 ms. */
    public fun floorMs(floorMs: Double): MeterOptions = apply {
        require(floorMs >= 1 && floorMs.isFinite()) { "floorMs must be 1 or more: floorMs=$floorMs" }
        this.floorMs = floorMs
    }

    /** Name of this run in the report. */
    public fun label(label: String): MeterOptions = apply { this.label = label }

    /** Whether to sample the stack of a held thread. Default: true. */
    public fun stacks(stacks: Boolean): MeterOptions = apply { this.stacks = stacks }

    /**
     * Time between beats. Default: 2 ms for a watch, 1 ms for a measurement. The start of a stall is known to plus or
     * minus half of it.
     */
    public fun beatMs(beatMs: Double): MeterOptions = apply {
        require(beatMs in 1.0..1000.0) { "beatMs must be 1 to 1000: beatMs=$beatMs" }
        this.beatMs = beatMs
    }

    /**
     * Number of stalls that are kept. Default: 10,000. Beyond it the oldest are dropped, and the report covers the time
     * after them.
     */
    public fun stallsMax(stallsMax: Int): MeterOptions = apply {
        require(stallsMax >= 1) { "stallsMax must be 1 or more: stallsMax=$stallsMax" }
        this.stallsMax = stallsMax
    }

    /**
     * Sets a function that is called with each stall of a watch, on the meter's own thread. The call comes once the
     * cause is known, 0.1 s after the stall's end. The function should be fast: the meter observes nothing while it
     * runs. Its exceptions go to the thread's uncaught-exception handler.
     */
    public fun onStall(onStall: Consumer<in Stall>): MeterOptions = apply { this.onStall = onStall }

    internal companion object {
        /**
         * A quarter of a frame at 60 Hz. A shorter stall costs no frame even at 240 Hz, and hitch ratios up to 250 Hz
         * stay exact.
         */
        const val FLOOR_MS = 4.0
        /** At most about 3 MB of explained stalls. At one stall a second this covers almost three hours. */
        const val STALLS_MAX = 10_000
        /** Bounds the start of a stall to plus or minus 1 ms. The README states the cost. */
        const val BEAT_MS = 2.0
        /** Bounds the start of a stall to plus or minus 0.5 ms. Used for the short time of a measurement. */
        const val BEAT_MS_BRIEF = 1.0
    }
}
