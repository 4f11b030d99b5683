// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.meter.metrics

import clearway.meter.StallCause
import io.opentelemetry.api.common.AttributeKey
import io.opentelemetry.api.common.Attributes
import io.opentelemetry.sdk.metrics.SdkMeterProvider
import io.opentelemetry.sdk.testing.exporter.InMemoryMetricReader
import java.lang.management.ManagementFactory
import org.junit.jupiter.api.Tag
import org.junit.jupiter.api.Test

/**
 * Prints the processor time of the metrics, without the watch itself, for `make measure`. It is the time of the calling
 * thread, so the compiler and the garbage collector are not in it. The load is that of `measure/metrics.mjs`: far more
 * stalls than an app should have.
 */
@Tag("measure")
internal class MetricsCostTest {
    private val threads = ManagementFactory.getThreadMXBean()
    private val stalls =
        List(100) { at ->
            stallOf(
                lengthMs = 5.0 + at,
                cause = StallCause.entries[at % StallCause.entries.size],
                machineMs = 1.0,
                gcMs = 1.0,
                marks = listOf("mark ${at % 20}" to 3.0),
            )
        }

    @Test
    fun `metrics for Prometheus`() {
        val metrics = StallMetrics()
        print("Prometheus", List(SCOPES) { metrics.scope(mapOf("thread" to "$it")) }) {
            metrics.exposition("application/openmetrics-text").body.length
        }
    }

    @Test
    fun `metrics for OpenTelemetry`() {
        val reader = InMemoryMetricReader.create()
        SdkMeterProvider.builder().registerMetricReader(reader).build().use { provider ->
            val meter = provider["clearway"]
            val name = AttributeKey.stringKey("thread.name")
            val scopes = List(SCOPES) { OpenTelemetryStalls.record(meter, Attributes.of(name, "$it")) }
            print("OpenTelemetry", scopes) { reader.collectAllMetrics().size }
        }
    }

    private fun print(target: String, scopes: List<StallScope>, scrape: () -> Int) {
        repeat(WARM_ROUNDS) { percentOf(scopes, scrape) }
        val samples = List(ROUNDS) { percentOf(scopes, scrape) }
        val load = "${stalls.size} stalls and 1 scrape a second, $SCOPES scopes"
        val name = "processor time of the JVM meter's metrics for $target: $load"
        println("""figure: {"name":"$name","unit":"% of a core","sense":"at most","limit":0.5,"samples":$samples}""")
    }

    /** Returns the processor time of the work of [SECONDS], in percent of a core. The waiting between is left out. */
    private fun percentOf(scopes: List<StallScope>, scrape: () -> Int): Double {
        var length = 0
        val from = threads.currentThreadCpuTime
        repeat(SECONDS) {
            for ((at, stall) in stalls.withIndex()) scopes[at % scopes.size].accept(stall)
            length += scrape()
        }
        val spentNs = threads.currentThreadCpuTime - from
        check(length > 0)
        return spentNs / 1e9 / SECONDS * 100
    }

    private companion object {
        const val SCOPES = 20
        const val SECONDS = 60
        const val ROUNDS = 9
        /** The JVM compiles the code in these rounds. */
        const val WARM_ROUNDS = 5
    }
}
