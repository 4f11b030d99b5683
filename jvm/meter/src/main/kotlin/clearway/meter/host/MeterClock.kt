// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.meter.host

/**
 * The meter's clock: monotonic, in ms, with the precision of `System.nanoTime`, and the same on all threads. Does not
 * block.
 */
internal object MeterClock {
    private val baseNs = System.nanoTime()

    fun nowMs(): Double = ofNs(System.nanoTime())

    /** Converts a reading of `System.nanoTime` to this clock. */
    fun ofNs(ns: Long): Double = (ns - baseNs) / 1e6
}
