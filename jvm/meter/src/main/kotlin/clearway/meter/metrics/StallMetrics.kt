// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.meter.metrics

import clearway.meter.Stall

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
