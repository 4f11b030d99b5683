// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.meter

import java.math.BigDecimal
import java.math.RoundingMode

/**
 * Returns the report in the format of `spec/stalls.schema.json`. The top-level keys have the same order as in
 * TypeScript's meter.
 */
internal fun jsonOf(report: StallReport): String =
    json(
        mapOf(
            "kind" to "clearway-stalls",
            "version" to 1,
            "host" to report.host,
            "label" to (report.label ?: ABSENT),
            "startedAt" to report.startedAt,
            "durationMs" to report.durationMs,
            "floorMs" to report.floorMs,
            "stalls" to report.stalls.map(::mapOf),
            "droppedStalls" to report.droppedStalls,
            "longestMs" to report.longestMs,
            "ownLongestMs" to report.ownLongestMs,
            "lagMeanMs" to report.lagMeanMs,
            "lagMaxMs" to report.lagMaxMs,
            "stalledMs" to report.stalledMs,
            "stallsPerMinute" to report.stallsPerMinute,
            "waits" to report.waits.map { mapOf("overMs" to it.overMs, "share" to it.share) },
            "hitch" to
                mapOf(
                    "hz" to report.hitch.hz,
                    "msPerSecond" to report.hitch.msPerSecond,
                    "verdicts" to
                        mapOf("strict" to report.hitch.verdicts.strict, "lenient" to report.hitch.verdicts.lenient),
                ),
            "frames" to
                mapOf(
                    "hz" to report.frames.hz,
                    "expected" to report.frames.expected,
                    "dropped" to report.frames.dropped,
                    "estimated" to report.frames.estimated,
                ),
            "worstSecond" to
                mapOf("startMs" to report.worstSecond.startMs, "stalledMs" to report.worstSecond.stalledMs),
            "tail" to report.tail.map { mapOf("quantile" to it.quantile, "lengthMs" to it.lengthMs) },
            "causes" to
                report.causes.map {
                    mapOf(
                        "cause" to it.cause.word,
                        "stalls" to it.stalls,
                        "totalMs" to it.totalMs,
                        "longestMs" to it.longestMs,
                    )
                },
            "sources" to
                report.sources.map {
                    mapOf("name" to it.name, "available" to it.available, "why" to (it.why ?: ABSENT))
                },
            "hiddenMs" to report.hiddenMs,
        )
    )

private fun mapOf(stall: Stall): Map<String, Any?> =
    mapOf(
        "startMs" to stall.startMs,
        "lengthMs" to stall.lengthMs,
        "errorMs" to stall.errorMs,
        "cause" to stall.cause.word,
        "because" to stall.because,
        "machineMs" to stall.machineMs,
        "gcMs" to stall.gcMs,
        // Always empty here: only browsers attribute stalls to scripts. The JVM has stacks instead.
        "scripts" to emptyList<Any>(),
        "stacks" to stall.stacks.map { mapOf("frames" to it.frames, "seen" to it.seen) },
        "marks" to stall.marks.map { mapOf("label" to it.label, "overlapMs" to it.overlapMs) },
    )

/**
 * Writes maps, lists, text, numbers, booleans and null as JSON. Leaves out a key whose value is [ABSENT]. Throws
 * `IllegalArgumentException` for NaN, infinity and other classes. The meter has its own writer, because it depends on
 * no JSON library.
 */
internal fun json(value: Any?): String = StringBuilder().also { write(value, it) }.toString()

/** Marks a key that [json] leaves out. */
internal object ABSENT

private fun write(value: Any?, out: StringBuilder) {
    when (value) {
        null -> out.append("null")
        is String -> quote(value, out)
        is Boolean,
        is Int,
        is Long -> out.append(value)
        is Double -> number(value, out)
        is Map<*, *> -> members(value, out)
        is List<*> -> elements(value, out)
        else -> throw IllegalArgumentException("no JSON for this: class=${value.javaClass.name}")
    }
}

private fun members(map: Map<*, *>, out: StringBuilder) {
    out.append('{')
    var first = true
    for ((key, value) in map) {
        if (value === ABSENT) continue
        if (!first) out.append(',')
        first = false
        quote(key.toString(), out)
        write(value, out.append(':'))
    }
    out.append('}')
}

private fun elements(list: List<*>, out: StringBuilder) {
    out.append('[')
    for ((index, value) in list.withIndex()) {
        if (index > 0) out.append(',')
        write(value, out)
    }
    out.append(']')
}

private fun number(value: Double, out: StringBuilder) {
    require(value.isFinite()) { "JSON has no such number: value=$value" }
    // Writes whole numbers without a decimal point, as the meters in other languages do.
    if (value == Math.rint(value) && Math.abs(value) < 1e15) out.append(value.toLong()) else out.append(value)
}

private fun quote(text: String, out: StringBuilder) {
    out.append('"')
    for (c in text) {
        when {
            c == '"' || c == '\\' -> out.append('\\').append(c)
            c < ' ' || c.isSurrogate() || c == '\u2028' || c == '\u2029' -> out.append("\\u%04x".format(c.code))
            else -> out.append(c)
        }
    }
    out.append('"')
}

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
