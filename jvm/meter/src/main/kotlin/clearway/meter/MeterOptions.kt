// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.meter

import java.util.function.Consumer

/**
 * What [Meter.watch] and [Meter.measure] take. Set before use; not for several threads at once.
 *
 * Every setter throws `IllegalArgumentException` with the value for one that makes no sense.
 */
public class MeterOptions {
    internal var hz = 60.0
    internal var floorMs = FLOOR_MS
    internal var label: String? = null
    internal var stacks = true
    internal var beatMs: Double? = null
    internal var stallsMax = STALLS_MAX
    internal var onStall: Consumer<in Stall>? = null

    /** Frame rate that hitches and estimated frames are computed for; 60 unless told. */
    public fun hz(hz: Double): MeterOptions = apply {
        require(hz > 0 && hz <= 1000) { "hz must be over 0, at most 1000: hz=$hz" }
        this.hz = hz
    }

    /** Stalls shorter than this are not recorded; 4 ms unless told. */
    public fun floorMs(floorMs: Double): MeterOptions = apply {
        require(floorMs >= 1 && floorMs.isFinite()) { "floorMs must be 1 or more: floorMs=$floorMs" }
        this.floorMs = floorMs
    }

    /** The run's label in the report. */
    public fun label(label: String): MeterOptions = apply { this.label = label }

    /** Whether to look at the stack of a held thread; true unless told. */
    public fun stacks(stacks: Boolean): MeterOptions = apply { this.stacks = stacks }

    /** Time between beats: 2 ms unless told, 1 ms for a measurement. A stall's start is known to half of it. */
    public fun beatMs(beatMs: Double): MeterOptions = apply {
        require(beatMs in 1.0..1000.0) { "beatMs must be 1 to 1000: beatMs=$beatMs" }
        this.beatMs = beatMs
    }

    /** Stalls kept; 10,000 unless told. Past it the oldest are dropped and the report covers the time after them. */
    public fun stallsMax(stallsMax: Int): MeterOptions = apply {
        require(stallsMax >= 1) { "stallsMax must be 1 or more: stallsMax=$stallsMax" }
        this.stallsMax = stallsMax
    }

    /**
     * Called with each stall of a watch once its cause is known, 0.1 s after its end, on the meter's own thread. Should
     * not take long: the meter sees nothing meanwhile. What it throws goes to the thread's handler of uncaught errors.
     */
    public fun onStall(onStall: Consumer<in Stall>): MeterOptions = apply { this.onStall = onStall }

    internal companion object {
        /**
         * A quarter of a frame at 60 Hz: a shorter stall costs no frame even at 240 Hz, and hitches up to 250 Hz stay
         * exact.
         */
        const val FLOOR_MS = 4.0
        /** Some 3 MB of explained stalls at most, and at one stall a second almost three hours. */
        const val STALLS_MAX = 10_000
        /** Bounds the start of a stall to plus or minus 1 ms. What it costs is in the README. */
        const val BEAT_MS = 2.0
        /** Plus or minus half a millisecond, for the length of a measurement. */
        const val BEAT_MS_BRIEF = 1.0
    }
}
