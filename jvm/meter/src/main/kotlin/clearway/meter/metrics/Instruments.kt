// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.meter.metrics

/**
 * A metric. The name and the unit follow OpenTelemetry's conventions. Prometheus's names follow from them: dots become
 * underscores, the unit is appended, then `_total` for counters. TypeScript's meter has the same metrics.
 */
internal class Instrument(val name: String, val unit: String, val description: String) {
    /** The name of the metric's family in Prometheus. */
    val family: String
        get() = name.replace('.', '_') + if (isTime) "_seconds" else ""

    val isTime: Boolean
        get() = unit == "s"
}

internal object Instruments {
    val STALL =
        Instrument(
            "clearway.stall.duration",
            "s",
            "Length of the intervals in which the thread could not answer an event, by cause.",
        )

    /** The counters without attributes of their own, in the order of the exposition. */
    val GC = Instrument("clearway.stall.gc.time", "s", "Time in stalls for which garbage collection paused the thread.")
    val MACHINE =
        Instrument("clearway.stall.machine.time", "s", "Time in stalls for which the machine ran other threads.")
    val HITCH =
        Instrument(
            "clearway.hitch.time",
            "s",
            "Time by which stalls exceed a frame at the configured rate, 60 Hz by default.",
        )
    val FRAMES =
        Instrument(
            "clearway.frame.dropped",
            "{frame}",
            "Frames that stalls drop at the configured rate, computed from the lengths of the stalls.",
        )
    val MARK =
        Instrument(
            "clearway.mark.stall.time",
            "s",
            "Time in stalls that fell into a mark of the app, by the label of the mark.",
        )

    /** Upper bounds of the histogram's buckets, in seconds. TypeScript's meter says why these. */
    val BOUNDS_S: List<Double> = listOf(0.00833, 0.01667, 0.03333, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
}
