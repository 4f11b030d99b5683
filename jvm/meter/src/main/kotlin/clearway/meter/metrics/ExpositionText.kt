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
