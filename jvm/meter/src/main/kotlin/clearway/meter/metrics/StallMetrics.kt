// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.meter.metrics

import clearway.meter.Stall
import clearway.meter.StallCause
import java.util.function.Consumer

/** Metrics as text, for the response of a `/metrics` endpoint. */
public class Exposition
internal constructor(
    /** The value for the response header `Content-Type`. */
    public val contentType: String,
    public val body: String,
)

/**
 * The stalls of a process as metrics for Prometheus. They count from the moment at which a scope opens. No thread and
 * no timer runs. Thread-safe.
 */
public class StallMetrics @JvmOverloads constructor(options: MetricsOptions = MetricsOptions()) {
    private val options = options.copy()
    private val scopes = LinkedHashMap<String, ScopeTotals>()

    /**
     * Opens a scope whose samples carry `labels`, such as `thread="main"`. A closed scope disappears from the metrics,
     * and its labels can be used again. An empty value counts as no label, as in Prometheus.
     *
     * @throws IllegalArgumentException for a label that Prometheus does not allow, and for the labels of an open scope
     * @throws IllegalStateException if `scopesMax` scopes are open
     */
    @JvmOverloads
    public fun scope(labels: Map<String, String> = emptyMap()): StallScope {
        val text = Labels.checked(labels)
        val totals = ScopeTotals(text)
        synchronized(scopes) {
            require(text !in scopes) {
                "labels must differ from those of every open scope; close it first: labels={$text}"
            }
            check(scopes.size < options.scopesMax) {
                "scopes must be closed when their thread ends: scopesMax=${options.scopesMax}"
            }
            scopes[text] = totals
        }
        return Scope(totals)
    }

    /**
     * Returns the metrics as text: OpenMetrics if the request header `Accept` prefers it, otherwise the older format of
     * Prometheus. The text is a snapshot.
     */
    @JvmOverloads
    public fun exposition(accept: String? = null): Exposition {
        val open = synchronized(scopes) { scopes.values.toList() }
        return ExpositionText.of(open, accept.orEmpty())
    }

    private inner class Scope(private val totals: ScopeTotals) : StallScope {
        private val amounts = AmountCounter(options)
        @Volatile private var isOpen = true

        override fun accept(stall: Stall) {
            if (!isOpen) return
            val added = amounts.of(stall)
            synchronized(totals) { totals.add(stall.cause, added) }
        }

        override fun close() {
            synchronized(scopes) {
                if (isOpen) scopes -= totals.labels
                isOpen = false
            }
        }
    }
}

/**
 * Options of [StallMetrics] and [OpenTelemetryStalls]. Set them before use, on one thread at a time.
 *
 * A setter throws `IllegalArgumentException` for a number out of range. The message contains the number.
 */
public class MetricsOptions {
    internal var hz = 60.0
        private set

    internal var marksMax = 100
        private set

    internal var scopesMax = 1000
        private set

    /** Sets the frame rate for hitches and dropped frames, in Hz. Default: 60. */
    public fun hz(hz: Double): MetricsOptions = apply {
        require(hz > 0 && hz <= 1000) { "hz must be over 0, at most 1000: hz=$hz" }
        this.hz = hz
    }

    /**
     * Sets the maximum number of different labels of marks per scope. Default: 100. The time of further labels counts
     * for the label `_other`.
     */
    public fun marksMax(marksMax: Int): MetricsOptions = apply {
        require(marksMax >= 0) { "marksMax must be 0 or more: marksMax=$marksMax" }
        this.marksMax = marksMax
    }

    /** Sets the maximum number of open scopes of a [StallMetrics]. Default: 1000. */
    public fun scopesMax(scopesMax: Int): MetricsOptions = apply {
        require(scopesMax >= 1) { "scopesMax must be 1 or more: scopesMax=$scopesMax" }
        this.scopesMax = scopesMax
    }

    internal fun copy(): MetricsOptions = MetricsOptions().hz(hz).marksMax(marksMax).scopesMax(scopesMax)
}

/**
 * The stalls of one thread. Pass it to [clearway.meter.MeterOptions.onStall], or give it the stalls of a report. It
 * throws no exception, and after [close] it does nothing. Thread-safe.
 */
public interface StallScope : Consumer<Stall>, AutoCloseable {
    /** Counts a stall. */
    override fun accept(stall: Stall)

    /** Ends the scope. Further calls do nothing. */
    override fun close()
}

/** The counted stalls of one scope. Its methods are called while its own lock is held. */
internal class ScopeTotals(val labels: String) {
    class OfCause {
        var count = 0L
        var sumS = 0.0
        val buckets = LongArray(Instruments.BOUNDS_S.size)
    }

    val causes = LinkedHashMap<StallCause, OfCause>()
    val marks = LinkedHashMap<String, Double>()
    val counters: MutableMap<Instrument, Double> =
        linkedMapOf(
            Instruments.GC to 0.0,
            Instruments.MACHINE to 0.0,
            Instruments.HITCH to 0.0,
            Instruments.FRAMES to 0.0,
        )

    fun add(cause: StallCause, amounts: Amounts) {
        val own = causes.getOrPut(cause) { OfCause() }
        own.count++
        own.sumS += amounts.lengthS
        val bucket = Instruments.BOUNDS_S.indexOfFirst { amounts.lengthS <= it }
        if (bucket >= 0) own.buckets[bucket]++
        counters.merge(Instruments.GC, amounts.gcS, Double::plus)
        counters.merge(Instruments.MACHINE, amounts.machineS, Double::plus)
        counters.merge(Instruments.HITCH, amounts.hitchS, Double::plus)
        counters.merge(Instruments.FRAMES, amounts.frames, Double::plus)
        for ((label, timeS) in amounts.marks) marks.merge(label, timeS, Double::plus)
    }
}

/** What one stall adds to the metrics, in seconds and frames. */
internal class Amounts(
    val lengthS: Double,
    val gcS: Double,
    val machineS: Double,
    val hitchS: Double,
    val frames: Double,
    /** Seconds by label of a mark. */
    val marks: List<Pair<String, Double>>,
)

/** Computes what stalls add, with bounded labels. One object serves one scope. Thread-safe. */
internal class AmountCounter(private val options: MetricsOptions) {
    private val labels = HashSet<String>()

    fun of(stall: Stall): Amounts {
        val lengthS = seconds(stall.lengthMs)
        // A stall of length b covers b * hz frames, and the last of them still appears, late.
        val hitchS = maxOf(0.0, lengthS - 1 / options.hz)
        return Amounts(
            lengthS,
            seconds(stall.gcMs),
            seconds(stall.machineMs),
            hitchS,
            hitchS * options.hz,
            stall.marks.map { bounded(it.label) to seconds(it.overlapMs) },
        )
    }

    private fun bounded(label: String): String =
        synchronized(labels) {
            when {
                label in labels -> label
                labels.size >= options.marksMax -> OTHER
                else -> label.also { labels += it }
            }
        }

    internal companion object {
        /** The label that gets the time of all marks beyond `marksMax`. */
        const val OTHER = "_other"

        // A counter must not fall and must stay a number, so NaN and negative lengths count as 0.
        private fun seconds(ms: Double): Double = if (ms > 0 && ms.isFinite()) ms / 1000 else 0.0
    }
}
