// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.meter

/** The options of [Meter.ping]. Set before use; not thread-safe. */
public class PingOptions {
    internal var count = 20
    internal var intervalMs = 0.0

    /** Pings sent, one after another; 20 unless told. */
    public fun count(count: Int): PingOptions = apply {
        require(count >= 1) { "count must be 1 or more: count=$count" }
        this.count = count
    }

    /**
     * Time between the start of one ping and of the next; 0, back to back, unless told. Sent late if the last took
     * longer.
     */
    public fun intervalMs(intervalMs: Double): PingOptions = apply {
        require(intervalMs >= 0 && intervalMs.isFinite()) { "intervalMs must be 0 or more: intervalMs=$intervalMs" }
        this.intervalMs = intervalMs
    }
}
