// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.meter

/** Options of [Meter.ping]. Set them before use, on one thread at a time. */
public class PingOptions {
    internal var count = 20
    internal var intervalMs = 0.0

    /** Sets the number of pings, which are sent one after another. Default: 20. */
    public fun count(count: Int): PingOptions = apply {
        require(count >= 1) { "count must be 1 or more: count=$count" }
        this.count = count
    }

    /**
     * Sets the time between the starts of two pings, in ms. Default: 0, so each ping starts when the one before has
     * ended. If a ping takes longer than this time, the next one starts late.
     */
    public fun intervalMs(intervalMs: Double): PingOptions = apply {
        require(intervalMs >= 0 && intervalMs.isFinite()) { "intervalMs must be 0 or more: intervalMs=$intervalMs" }
        this.intervalMs = intervalMs
    }
}
