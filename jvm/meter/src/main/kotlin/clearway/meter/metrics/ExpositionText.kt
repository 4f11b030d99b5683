// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.meter.metrics

import java.math.BigDecimal

/** Writes the metrics of scopes as OpenMetrics 1.0.0 or as Prometheus's text 0.0.4. */
internal object ExpositionText {
    fun of(scopes: List<ScopeTotals>, accept: String): Exposition {
        val isOpen = prefersOpenMetrics(accept)
        // One text per family, because all samples of a family must follow one another.
        val stalls = StringBuilder(header(Instruments.STALL, "histogram", isOpen))
        val marks = StringBuilder(header(Instruments.MARK, "counter", isOpen))
        val counters =
            listOf(Instruments.GC, Instruments.MACHINE, Instruments.HITCH, Instruments.FRAMES).associateWith {
                StringBuilder(header(it, "counter", isOpen))
            }
        for (scope in scopes) {
            synchronized(scope) {
                for ((cause, own) in scope.causes) {
                    stalls.append(histogram(Labels.joined(scope.labels, Labels.text("cause", cause.word)), own))
                }
                for ((instrument, text) in counters) {
                    val braced = if (scope.labels.isEmpty()) "" else "{${scope.labels}}"
                    text.append("${instrument.family}_total$braced ${number(scope.counters.getValue(instrument))}\n")
                }
                for ((label, timeS) in scope.marks) {
                    val labels = Labels.joined(scope.labels, Labels.text("mark", label))
                    marks.append("${Instruments.MARK.family}_total{$labels} ${number(timeS)}\n")
                }
            }
        }
        val body = (listOf(stalls) + counters.values + marks).joinToString("") + if (isOpen) "# EOF\n" else ""
        val type = if (isOpen) "application/openmetrics-text; version=1.0.0" else "text/plain; version=0.0.4"
        return Exposition("$type; charset=utf-8", body)
    }

    private fun header(instrument: Instrument, type: String, isOpen: Boolean): String {
        val name = if (type == "counter" && !isOpen) "${instrument.family}_total" else instrument.family
        val unit = if (isOpen && instrument.isTime) "# UNIT $name seconds\n" else ""
        return "# HELP $name ${instrument.description}\n# TYPE $name $type\n$unit"
    }

    private fun histogram(labels: String, own: ScopeTotals.OfCause): String = buildString {
        val name = Instruments.STALL.family
        var seen = 0L
        for ((at, bound) in Instruments.BOUNDS_S.withIndex()) {
            seen += own.buckets[at]
            append("${name}_bucket{$labels,le=\"$bound\"} $seen\n")
        }
        append("${name}_bucket{$labels,le=\"+Inf\"} ${own.count}\n")
        append("${name}_count{$labels} ${own.count}\n${name}_sum{$labels} ${number(own.sumS)}\n")
    }

    /** Returns a number without an exponent, and without a decimal point if it is whole. */
    private fun number(value: Double): String = BigDecimal(value.toString()).stripTrailingZeros().toPlainString()

    /** Returns whether an `Accept` header names OpenMetrics 1.0.0 with a quality that is not below plain text's. */
    private fun prefersOpenMetrics(accept: String): Boolean {
        var open = 0.0
        var plain = 0.0
        for (range in accept.split(',')) {
            val parts = range.split(';').map { it.trim().lowercase() }
            fun value(name: String) = parts.drop(1).find { it.startsWith("$name=") }?.substring(name.length + 1)
            val quality = (value("q") ?: "1").toDoubleOrNull()?.takeIf { it.isFinite() } ?: 0.0
            val isVersion = (value("version") ?: "1.0.0") == "1.0.0"
            if (parts[0] == "application/openmetrics-text" && isVersion) open = maxOf(open, quality)
            else if (parts[0] == "text/plain") plain = maxOf(plain, quality)
        }
        return open > 0 && open >= plain
    }
}

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

/** Labels as they are written between braces in Prometheus's formats. */
internal object Labels {
    /** The labels that the metrics themselves have, or that Prometheus computes with. */
    private val reserved = listOf("cause", "mark", "le", "quantile")
    private val allowed = Regex("[A-Za-z_][A-Za-z0-9_]*")

    /**
     * Returns the text of labels in the order of their names, without empty ones: Prometheus takes an empty label for
     * none. Refuses names that Prometheus does not allow.
     */
    fun checked(labels: Map<String, String>): String {
        for (name in labels.keys) {
            require(allowed.matches(name) && !name.startsWith("__") && name !in reserved) {
                "a label must have letters, digits and _ (not __ at the start, not ${reserved.joinToString()}): label=$name"
            }
        }
        val filled = labels.filterValues { it.isNotEmpty() }.toSortedMap()
        return filled.entries.joinToString(",") { (name, value) -> text(name, value) }
    }

    fun text(name: String, value: String): String = "$name=\"${escaped(value)}\""

    fun joined(vararg labels: String): String = labels.filter { it.isNotEmpty() }.joinToString(",")

    /**
     * Escapes the characters that end or change a label's value. Different values stay different.
     *
     * Half of a surrogate pair has no form in UTF-8, and Prometheus's parser takes a zero character for the end of the
     * text. Each becomes the replacement character and the code in four hexadecimal digits. So does the replacement
     * character itself.
     */
    private fun escaped(value: String): String = buildString {
        var at = 0
        while (at < value.length) {
            val point = value.codePointAt(at)
            at += Character.charCount(point)
            when {
                point == '\n'.code -> append("\\n")
                point == '"'.code || point == '\\'.code -> append('\\').appendCodePoint(point)
                point == 0 || point == 0xfffd || point in 0xd800..0xdfff ->
                    append('\ufffd').append(point.toString(16).padStart(4, '0'))
                else -> appendCodePoint(point)
            }
        }
    }
}
