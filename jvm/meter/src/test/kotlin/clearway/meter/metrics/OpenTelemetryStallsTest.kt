// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.meter.metrics

import clearway.meter.StallCause
import io.opentelemetry.api.common.AttributeKey
import io.opentelemetry.api.common.Attributes
import io.opentelemetry.api.metrics.DoubleCounter
import io.opentelemetry.api.metrics.DoubleCounterBuilder
import io.opentelemetry.api.metrics.DoubleHistogram
import io.opentelemetry.api.metrics.DoubleHistogramBuilder
import io.opentelemetry.api.metrics.LongCounterBuilder
import io.opentelemetry.api.metrics.Meter
import io.opentelemetry.sdk.metrics.SdkMeterProvider
import io.opentelemetry.sdk.testing.exporter.InMemoryMetricReader
import java.lang.reflect.InvocationHandler
import java.lang.reflect.Proxy
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertThrows
import org.junit.jupiter.api.Test

class OpenTelemetryStallsTest {
    private val main = Attributes.of(AttributeKey.stringKey("thread.name"), "main")

    /** Returns a meter whose instruments run `act` at each call. */
    private fun meter(act: () -> Unit): Meter {
        lateinit var handler: InvocationHandler
        fun <T> made(type: Class<T>): T = type.cast(Proxy.newProxyInstance(type.classLoader, arrayOf(type), handler))
        handler = InvocationHandler { proxy, method, arguments ->
            when (method.name) {
                "histogramBuilder" -> made(DoubleHistogramBuilder::class.java)
                "counterBuilder" -> made(LongCounterBuilder::class.java)
                "ofDoubles" -> made(DoubleCounterBuilder::class.java)
                "build" ->
                    if (proxy is DoubleHistogramBuilder) made(DoubleHistogram::class.java)
                    else made(DoubleCounter::class.java)
                "record",
                "add" -> act()
                "hashCode" -> System.identityHashCode(proxy)
                "equals" -> proxy === arguments[0]
                else -> proxy
            }
        }
        return made(Meter::class.java)
    }

    @Test
    fun `OpenTelemetry's SDK gets a histogram with the meter's buckets, and counters`() {
        val reader = InMemoryMetricReader.create()
        SdkMeterProvider.builder().registerMetricReader(reader).build().use { provider ->
            val scope = OpenTelemetryStalls.record(provider["clearway"], main)
            scope.accept(stallOf(100.0, StallCause.GC, gcMs = 60.0, marks = listOf("parse" to 40.0)))
            scope.accept(stallOf(300.0, StallCause.GC))
            val metrics = reader.collectAllMetrics().associateBy { it.name }
            val stalls = metrics.getValue("clearway.stall.duration")
            assertEquals("s", stalls.unit)
            val point = stalls.histogramData.points.single()
            assertEquals(main.toBuilder().put("clearway.stall.cause", "gc").build(), point.attributes)
            assertEquals(Instruments.BOUNDS_S, point.boundaries)
            assertEquals(listOf<Long>(0, 0, 0, 0, 1, 0, 1, 0, 0, 0, 0, 0), point.counts)
            fun sum(name: String) = metrics.getValue(name).doubleSumData.points.single()
            assertEquals(0.06, sum("clearway.stall.gc.time").value, 1e-9)
            assertEquals(22.0, sum("clearway.frame.dropped").value, 1e-9)
            assertEquals(0.04, sum("clearway.mark.stall.time").value, 1e-9)
            assertEquals(
                main.toBuilder().put("clearway.mark.label", "parse").build(),
                sum("clearway.mark.stall.time").attributes,
            )
            assertEquals(0, scope.failures)
        }
    }

    @Test
    fun `an instrument that throws stops neither the others nor the caller, even if the listener throws too`() {
        var calls = 0
        val heard = mutableListOf<Throwable>()
        val scope =
            OpenTelemetryStalls.record(
                meter {
                    calls++
                    throw StackOverflowError()
                },
                onError = {
                    heard += it
                    error("again")
                },
            )
        scope.accept(stallOf())
        assertEquals(listOf(3, 3, 3), listOf(calls, heard.size, scope.failures.toInt()))
    }

    @Test
    fun `a stall that an instrument gives back is dropped, and an ended scope does nothing`() {
        var calls = 0
        lateinit var scope: OpenTelemetryStalls
        scope =
            OpenTelemetryStalls.record(
                meter {
                    calls++
                    scope.accept(stallOf())
                }
            )
        scope.accept(stallOf())
        assertEquals(3, calls)
        scope.close()
        scope.accept(stallOf())
        assertEquals(3, calls)
    }

    @Test
    fun `a second scope with the same attributes is refused until the first is closed`() {
        val meter = meter {}
        val first = OpenTelemetryStalls.record(meter, main)
        assertThrows(IllegalArgumentException::class.java) { OpenTelemetryStalls.record(meter, main) }
        OpenTelemetryStalls.record(meter)
        OpenTelemetryStalls.record(meter {}, main)
        first.close()
        OpenTelemetryStalls.record(meter, main)
        first.close()
        assertThrows(IllegalArgumentException::class.java) { OpenTelemetryStalls.record(meter, main) }
    }
}
