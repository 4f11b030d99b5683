// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.meter

/** What a measured function gave, and what it did to the thread. */
public class Measurement<out T>
internal constructor(
    /** What the function returned, or its stage's value. */
    public val value: T,
    /** From the call to the value, in ms; the same as `report.durationMs`. */
    public val runtimeMs: Double,
    public val report: StallReport,
) {
    override fun toString(): String = report.toString()
}
