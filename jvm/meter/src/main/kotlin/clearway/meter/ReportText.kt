// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.meter

import java.math.BigDecimal
import java.math.RoundingMode

/** Formats a number with `digits` decimals. Rounds the exact binary value, as JavaScript's `toFixed` does. */
internal fun fixed(value: Double, digits: Int): String =
    BigDecimal(value).setScale(digits, RoundingMode.HALF_UP).toPlainString()

internal fun inMs(value: Double): String = fixed(value, if (value >= 100) 0 else if (value >= 10) 1 else 2) + " ms"

private fun inPercent(share: Double) = fixed(share * 100, if (share >= 0.1) 0 else 2) + " %"

private const val STALLS_SHOWN = 5

/** Returns the same lines as TypeScript's `formatReport`, without a trailing line break. */
internal fun textOf(report: StallReport): String {
    val (hitch, frames) = report.hitch to report.frames
    val rows =
        listOf(
            "total time" to inMs(report.durationMs),
            "longest stall" to longest(report),
            "mean lag" to "${inMs(report.lagMeanMs)} for an event at a random moment",
            "hitches at ${plain(hitch.hz)} Hz" to
                "${fixed(hitch.msPerSecond, 1)} ms/s: ${hitch.verdicts.strict} (newer scale: ${hitch.verdicts.lenient})",
            "dropped frames" to
                "${frames.dropped} of ${frames.expected} at ${plain(frames.hz)} Hz" +
                    if (frames.estimated) ", estimated" else "",
            "waits" to waitsOf(report),
            "worst second" to
                "${inMs(report.worstSecond.stalledMs)} stalled, from ${inMs(report.worstSecond.startMs)} on",
            "stalls" to stallsOf(report),
        )
    val width = rows.maxOf { it.first.length }
    val lines = mutableListOf(headline(report))
    rows.mapTo(lines) { (name, text) -> "  ${name.padEnd(width)}  $text" }
    report.stalls.sortedByDescending { it.lengthMs }.take(STALLS_SHOWN).mapTo(lines) { "    ${lineOf(it)}" }
    report.sources.filter { !it.available }.mapTo(lines) { "  not seen: ${it.name} (${it.why ?: "no reason known"})" }
    if (report.droppedStalls > 0) {
        lines += "  ${report.droppedStalls} older stalls were dropped; all figures are of the time after them"
    }
    return lines.joinToString("\n")
}

private fun plain(hz: Double) = BigDecimal(hz).stripTrailingZeros().toPlainString()

// What the machine took says nothing about the app, so a longest stall with it comes second.
private fun longest(report: StallReport): String {
    val own = inMs(report.ownLongestMs)
    return if (report.longestMs > report.ownLongestMs) "$own (with delays by the machine: ${inMs(report.longestMs)})"
    else own
}

private fun headline(report: StallReport): String {
    val name = report.label ?: "This thread"
    if (report.stalls.isEmpty()) return "$name: never held for ${inMs(report.floorMs)} or longer."
    val times = if (report.stalls.size == 1) "once" else "${report.stalls.size} times"
    return "$name: held $times, ${inMs(report.stalledMs)} of ${inMs(report.durationMs)}, " +
        "at most ${longest(report)} at a time."
}

private fun waitsOf(report: StallReport): String =
    report.waits
        .filter { it.share > 0 }
        .joinToString(", ") { "${inPercent(it.share)} over ${inMs(it.overMs)}" }
        .ifEmpty { "none over 8.33 ms" }

private fun stallsOf(report: StallReport): String {
    val parts = mutableListOf("${report.stalls.size} of ${inMs(report.floorMs)} or longer")
    report.causes.mapTo(parts) { "${it.cause.word} ${it.stalls} (${inMs(it.totalMs)})" }
    for (each in report.tail) {
        each.lengthMs?.let { parts += "p${fixed(each.quantile * 100, 1).removeSuffix(".0")} ${inMs(it)}" }
    }
    return parts.joinToString(", ")
}

private fun lineOf(stall: Stall): String {
    val marks = if (stall.marks.isEmpty()) "" else stall.marks.joinToString(", ", " [", "]") { it.label }
    return "${inMs(stall.lengthMs).padStart(8)} at ${inMs(stall.startMs)}: ${stall.cause.word}: ${stall.because}$marks"
}
