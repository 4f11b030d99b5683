// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.executor.advisor

import clearway.executor.host.Clock
import clearway.executor.host.SystemClock
import java.time.Duration
import java.util.Locale
import java.util.concurrent.ConcurrentHashMap
import java.util.concurrent.ExecutorService
import java.util.concurrent.ForkJoinPool
import java.util.concurrent.ThreadPoolExecutor

/**
 * Reports where the tasks of existing executors would run faster, and by how much. It uses the adaptive executor's
 * statistics, and changes nothing. Wrap the executor of each call site (a place that submits one kind of work) with
 * [watch], under a separate name. Use the returned executor, and request a [report] after the app has run for a while.
 *
 * Thread-safe. Starts no threads. Adds 1 to 2 us to a watched task, which is negligible for long tasks.
 */
public class Advisor internal constructor(private val processors: Int, private val clock: Clock) {
    /** @param processors number of threads that can run at the same time. Default: the JVM's processors */
    @JvmOverloads
    public constructor(processors: Int = Runtime.getRuntime().availableProcessors()) : this(processors, SystemClock)

    private val sites = ConcurrentHashMap<String, WatchedSite>()
    private val eventThreads = ConcurrentHashMap.newKeySet<Thread>()
    @Volatile private var eventBudgetNs = Duration.ofMillis(1).toNanos()

    init {
        require(processors >= 1) { "processors must be positive: processors=$processors" }
    }

    /**
     * Returns an executor that passes every task to `executor` and measures it under `name`. It does not change where
     * or how tasks run. Its shutdown shuts `executor` down. Use two names for two kinds of work.
     *
     * @throws IllegalArgumentException if the name is in use
     */
    public fun watch(executor: ExecutorService, name: String): ExecutorService {
        val setting = Setting(processors, threadsMax(executor)) { eventBudgetNs }
        val site = WatchedSite(name, setting, clock, eventThreads::contains)
        require(sites.putIfAbsent(name, site) == null) { "a site of this name is watched already: name=$name" }
        return WatchedExecutor(executor, site, clock)
    }

    /**
     * Registers an event thread. The report advises to run work on that thread only if the work nearly always fits into
     * `budget`. The last `budget` applies to all event threads.
     */
    @JvmOverloads
    public fun registerEventThread(thread: Thread, budget: Duration = Duration.ofMillis(1)) {
        require(!budget.isNegative) { "budget must not be negative: budget=$budget" }
        // A Duration may be longer than the 292 years that fit into a Long.
        eventBudgetNs = budget.coerceAtMost(Duration.ofNanos(Long.MAX_VALUE)).toNanos()
        eventThreads += thread
    }

    /** Returns the advice so far, with the sites sorted by name. Allocates. */
    public fun report(): AdvisorReport = AdvisorReport(sites.values.map { it.advice() }.sortedBy { it.name })

    private fun threadsMax(executor: ExecutorService): Int =
        when (executor) {
            is ThreadPoolExecutor -> executor.maximumPoolSize
            is ForkJoinPool -> executor.parallelism
            else -> Int.MAX_VALUE
        }
}

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
