// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.meter

/** A measured function's result, and the stalls that it caused. */
public class Measurement<out T>
internal constructor(
    /** The function's result, or its stage's value. */
    public val value: T,
    /** From the call to the value, in ms; the same as `report.durationMs`. */
    public val runtimeMs: Double,
    public val report: StallReport,
) {
    override fun toString(): String = report.toString()
}
