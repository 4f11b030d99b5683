// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.meter.metrics

import clearway.meter.MarkShare
import clearway.meter.Meter
import clearway.meter.MeterOptions
import clearway.meter.Stall
import clearway.meter.StallCause
import com.google.gson.JsonObject
import com.google.gson.JsonParser
import io.opentelemetry.api.common.AttributeKey
import io.opentelemetry.api.common.Attributes
import io.opentelemetry.api.metrics.DoubleCounter
import io.opentelemetry.api.metrics.DoubleCounterBuilder
import io.opentelemetry.api.metrics.DoubleHistogram
import io.opentelemetry.api.metrics.DoubleHistogramBuilder
import io.opentelemetry.api.metrics.LongCounterBuilder
import io.opentelemetry.api.metrics.Meter as OtelMeter
import io.opentelemetry.sdk.metrics.SdkMeterProvider
import io.opentelemetry.sdk.testing.exporter.InMemoryMetricReader
import java.lang.management.ManagementFactory
import java.lang.reflect.InvocationHandler
import java.lang.reflect.Proxy
import java.nio.file.Files
import java.nio.file.Path
import java.util.concurrent.CountDownLatch
import java.util.concurrent.Executors
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertThrows
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Tag
import org.junit.jupiter.api.Test
import org.junit.jupiter.params.ParameterizedTest
import org.junit.jupiter.params.provider.CsvSource
import org.junit.jupiter.params.provider.ValueSource

internal fun stallOf(
    lengthMs: Double = 100.0,
    cause: StallCause = StallCause.APP,
    machineMs: Double = 0.0,
    gcMs: Double = 0.0,
    marks: List<Pair<String, Double>> = emptyList(),
): Stall =
    Stall(
        startMs = 0.0,
        lengthMs = lengthMs,
        errorMs = 0.0,
        cause = cause,
        because = "",
        machineMs = machineMs,
        gcMs = gcMs,
        stacks = emptyList(),
        marks = marks.map { (label, overlapMs) -> MarkShare(label, overlapMs) },
    )

class StallMetricsTest {
    private val vectors =
        JsonParser.parseString(Files.readString(Path.of("../../spec/vectors/metrics.json"))).asJsonObject

    private fun lines(name: String) = vectors[name].asJsonArray.map { it.asString }

    private fun stall(json: JsonObject) =
        stallOf(
            json["lengthMs"].asDouble,
            StallCause.valueOf(json["cause"].asString.uppercase()),
            json["machineMs"].asDouble,
            json["gcMs"].asDouble,
            json["marks"].asJsonArray.map { it.asJsonObject }.map { it["label"].asString to it["overlapMs"].asDouble },
        )

    @ParameterizedTest
    @CsvSource("application/openmetrics-text,openMetrics", "text/plain,prometheus")
    fun `the text is that of the vectors, which TypeScript's meter passes too`(accept: String, name: String) {
        val options = MetricsOptions().hz(vectors["hz"].asDouble).marksMax(vectors["marksMax"].asInt)
        val metrics = StallMetrics(options)
        for (each in vectors["scopes"].asJsonArray.map { it.asJsonObject }) {
            val labels = each["labels"].asJsonObject.entrySet().associate { (key, value) -> key to value.asString }
            val scope = metrics.scope(labels)
            for (stall in each["stalls"].asJsonArray) scope.accept(stall(stall.asJsonObject))
        }
        assertEquals(lines(name), metrics.exposition(accept).body.split("\n"))
    }

    @ParameterizedTest
    @CsvSource(
        delimiter = '|',
        value =
            [
                "application/openmetrics-text;version=1.0.0,text/plain;version=0.0.4;q=0.5,*/*;q=0.1 | true",
                "text/plain, application/openmetrics-text;q=0.7 | false",
                "application/openmetrics-text;q=0 | false",
                "application/openmetrics-text;q=NaN | false",
                "application/openmetrics-text;version=0.0.1 | false",
                ";;,,= | false",
            ],
    )
    fun `the format follows the header Accept`(accept: String, isOpen: Boolean) {
        val found = StallMetrics().exposition(accept)
        assertEquals(isOpen, found.body.endsWith("# EOF\n"))
        assertEquals(isOpen, found.contentType == "application/openmetrics-text; version=1.0.0; charset=utf-8")
    }

    @Test
    fun `the labels of an open scope are refused in any order, and free after its end`() {
        val metrics = StallMetrics()
        val scope = metrics.scope(linkedMapOf("a" to "1", "b" to "2"))
        val refused =
            assertThrows(IllegalArgumentException::class.java) { metrics.scope(linkedMapOf("b" to "2", "a" to "1")) }
        assertEquals(
            "labels must differ from those of every open scope; close it first: labels={a=\"1\",b=\"2\"}",
            refused.message,
        )
        scope.close()
        val again = metrics.scope(mapOf("a" to "1", "b" to "2"))
        scope.close()
        scope.accept(stallOf())
        assertTrue("clearway_frame_dropped_total{a=\"1\",b=\"2\"} 0\n" in metrics.exposition().body)
        again.close()
        assertFalse("{" in metrics.exposition().body)
    }

    @Test
    fun `more scopes than allowed are refused until one ends`() {
        val metrics = StallMetrics(MetricsOptions().scopesMax(1))
        val first = metrics.scope()
        assertThrows(IllegalStateException::class.java) { metrics.scope(mapOf("a" to "1")) }
        first.close()
        metrics.scope(mapOf("a" to "1"))
    }

    @ParameterizedTest
    @ValueSource(strings = ["le", "cause", "__name", "9", "", "a-b", "a\n"])
    fun `a label that Prometheus does not allow is refused`(name: String) {
        assertThrows(IllegalArgumentException::class.java) { StallMetrics().scope(mapOf(name to "1")) }
    }

    @Test
    fun `an empty label is taken for none`() {
        val metrics = StallMetrics()
        metrics.scope(mapOf("a" to ""))
        assertThrows(IllegalArgumentException::class.java) { metrics.scope() }
        assertTrue("clearway_frame_dropped_total 0\n" in metrics.exposition().body)
    }

    @Test
    fun `half of a surrogate pair in a label becomes the replacement character with its code`() {
        val metrics = StallMetrics()
        metrics.scope(mapOf("a" to "x\ud83d", "b" to "\ude42y", "c" to "\ud83d\ude42"))
        assertTrue("{a=\"x\ufffdd83d\",b=\"\ufffdde42y\",c=\"\ud83d\ude42\"}" in metrics.exposition().body)
    }

    @Test
    fun `different labels have different series`() {
        val metrics = StallMetrics()
        val labels = listOf("\u0000", "\ud800", "\udc00", "\ufffd", "\ufffd0000", "\\ufffd")
        for (label in labels) metrics.scope(mapOf("a" to label)).accept(stallOf(marks = labels.map { it to 1.0 }))
        val series = metrics.exposition().body.lines().filter { "mark=" in it }
        assertEquals(labels.size * labels.size, series.toSet().size)
    }

    @Test
    fun `a length that is no number adds nothing`() {
        val metrics = StallMetrics()
        val scope = metrics.scope()
        for (length in listOf(Double.NaN, -5.0, Double.POSITIVE_INFINITY)) scope.accept(stallOf(length, gcMs = length))
        assertTrue("clearway_stall_duration_seconds_sum{cause=\"app\"} 0\n" in metrics.exposition().body)
        assertTrue("clearway_stall_gc_time_seconds_total 0\n" in metrics.exposition().body)
    }

    @Test
    fun `stalls of many threads are all counted while the metrics are read and scopes come and go`() {
        val metrics = StallMetrics()
        val scope = metrics.scope(mapOf("thread" to "shared"))
        val pool = Executors.newFixedThreadPool(4)
        try {
            val work =
                List(4) { thread ->
                    pool.submit {
                        repeat(1000) { at ->
                            scope.accept(stallOf())
                            metrics.scope(mapOf("thread" to "$thread.$at")).use { it.accept(stallOf()) }
                            metrics.exposition()
                        }
                    }
                }
            work.forEach { it.get() }
        } finally {
            pool.shutdownNow()
        }
        val counts = metrics.exposition().body.lines().filter { it.startsWith("clearway_stall_duration_seconds_count") }
        assertEquals(listOf("clearway_stall_duration_seconds_count{thread=\"shared\",cause=\"app\"} 4000"), counts)
    }

    @Test
    fun `a scope counts the stalls of a watch`() {
        val metrics = StallMetrics()
        val scope = metrics.scope(mapOf("thread" to "events"))
        val counted = CountDownLatch(1)
        val events = Executors.newSingleThreadExecutor()
        try {
            val options =
                MeterOptions().onStall { stall ->
                    scope.accept(stall)
                    if (stall.lengthMs >= 100) counted.countDown()
                }
            Meter.watch(events, options).use { watch ->
                watch.ready.get()
                events.submit { Thread.sleep(120) }
                counted.await()
            }
        } finally {
            events.shutdownNow()
        }
        assertTrue("clearway_stall_duration_seconds_count{thread=\"events\"" in metrics.exposition().body)
    }
}

class OpenTelemetryStallsTest {
    private val main = Attributes.of(AttributeKey.stringKey("thread.name"), "main")

    /** Returns a meter whose instruments run `act` at each call. */
    private fun meter(act: () -> Unit): OtelMeter {
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
        return made(OtelMeter::class.java)
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
