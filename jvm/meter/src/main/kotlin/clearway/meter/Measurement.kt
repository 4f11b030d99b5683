// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.meter

/** The value of a measured function and the report of its run. */
public class Measurement<out T>
internal constructor(
    /** The function's return value, or the value of its stage. */
    public val value: T,
    /** Time from the call to the value, in ms. Equals `report.durationMs`. */
    public val runtimeMs: Double,
    public val report: StallReport,
) {
    override fun toString(): String = report.toString()
}
