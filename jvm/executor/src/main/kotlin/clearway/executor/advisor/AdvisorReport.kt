// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.executor.advisor

import java.util.Locale

/** The advice for every watched site. Immutable. */
public class AdvisorReport internal constructor(public val sites: List<SiteAdvice>) {
    /**
     * Returns one JSON object: `kind`, `version`, and `sites` with the fields of [SiteAdvice]. Times are in ns. An
     * unknown number is null. Allocates on each call.
     */
    public fun toJson(): String =
        sites.joinToString(",", "{\"kind\":\"clearway-executor-advice\",\"version\":1,\"sites\":[", "]}") { site(it) }

    /** Returns a text for a terminal. It lists each site's advice, the most important first, and the site's numbers. */
    override fun toString(): String =
        if (sites.isEmpty()) "no site is watched" else sites.joinToString("\n") { textOf(it) }

    private fun textOf(site: SiteAdvice): String {
        val lines =
            site.advice.map { advice ->
                val sure = "${advice.sureness.word}: ${advice.agreeing} of ${advice.bursts} bursts agree"
                val spread =
                    if (advice.factor == 1.0) ""
                    else ", quartiles ${rounded(advice.factorLow)} to ${rounded(advice.factorHigh)}"
                "${site.name}: ${advice.text} ($sure$spread)"
            }
        if (site.bursts == 0L) return lines.joinToString("\n")
        return (lines +
                ("  ${site.tasks} tasks in ${site.bursts} bursts of ${rounded(site.burstSize)}; per task: run time " +
                    "${time(site.taskNs)}, processor time ${time(site.taskCpuNs)}, wait ${time(site.waitNs)}, " +
                    "hand-over ${time(site.handNs)}; per burst: ${time(site.burstNs)} now, ${time(site.inlineNs)} " +
                    "inline, ${time(site.cpuPoolNs)} with one worker per processor, ${time(site.elasticNs)} with as " +
                    "many threads as help"))
            .joinToString("\n")
    }

    private fun site(site: SiteAdvice): String =
        listOf(
                "name" to quoted(site.name),
                "tasks" to site.tasks,
                "bursts" to site.bursts,
                "burstSize" to number(site.burstSize),
                "burstNs" to number(site.burstNs),
                "taskNs" to number(site.taskNs),
                "taskCpuNs" to number(site.taskCpuNs),
                "waitNs" to number(site.waitNs),
                "handNs" to number(site.handNs),
                "threads" to site.threads,
                "sleptBursts" to site.sleptBursts,
                "inlineNs" to number(site.inlineNs),
                "cpuPoolNs" to number(site.cpuPoolNs),
                "elasticNs" to number(site.elasticNs),
                "advice" to site.advice.joinToString(",", "[", "]") { advice(it) },
            )
            .let(::members)

    private fun advice(advice: Advice): String =
        members(
            listOf(
                "code" to quoted(advice.code.word),
                "text" to quoted(advice.text),
                "factor" to number(advice.factor),
                "factorLow" to number(advice.factorLow),
                "factorHigh" to number(advice.factorHigh),
                "bursts" to advice.bursts,
                "agreeing" to advice.agreeing,
                "sureness" to quoted(advice.sureness.word),
            )
        )

    private fun members(members: List<Pair<String, Any>>) =
        members.joinToString(",", "{", "}") { (name, value) -> "\"$name\":$value" }

    private fun number(value: Double) = if (value.isFinite()) "%.3f".format(Locale.ROOT, value) else "null"

    private fun quoted(text: String): String =
        text
            .map { if (it == '"' || it == '\\') "\\$it" else if (it < ' ') "\\u%04x".format(it.code) else "$it" }
            .joinToString("", "\"", "\"")
}
