// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.meter.metrics

/**
 * Options of [StallMetrics] and [OpenTelemetryStalls]. Set them before use, on one thread at a time.
 *
 * A setter throws `IllegalArgumentException` for a number out of range. The message contains the number.
 */
public class MetricsOptions {
    internal var hz = 60.0
        private set

    internal var marksMax = 100
        private set

    internal var scopesMax = 1000
        private set

    /** Sets the frame rate for hitches and dropped frames, in Hz. Default: 60. */
    public fun hz(hz: Double): MetricsOptions = apply {
        require(hz > 0 && hz <= 1000) { "hz must be over 0, at most 1000: hz=$hz" }
        this.hz = hz
    }

    /**
     * Sets the maximum number of different labels of marks per scope. Default: 100. The time of further labels counts
     * for the label `_other`.
     */
    public fun marksMax(marksMax: Int): MetricsOptions = apply {
        require(marksMax >= 0) { "marksMax must be 0 or more: marksMax=$marksMax" }
        this.marksMax = marksMax
    }

    /** Sets the maximum number of open scopes of a [StallMetrics]. Default: 1000. */
    public fun scopesMax(scopesMax: Int): MetricsOptions = apply {
        require(scopesMax >= 1) { "scopesMax must be 1 or more: scopesMax=$scopesMax" }
        this.scopesMax = scopesMax
    }

    internal fun copy(): MetricsOptions = MetricsOptions().hz(hz).marksMax(marksMax).scopesMax(scopesMax)
}
