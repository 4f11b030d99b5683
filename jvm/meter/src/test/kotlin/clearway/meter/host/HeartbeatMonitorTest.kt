// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.meter.host

import clearway.meter.Stall
import clearway.meter.StallReport
import clearway.meter.forAll
import clearway.meter.record.Recorder
import clearway.meter.record.RecorderOptions
import io.kotest.property.Arb
import io.kotest.property.arbitrary.double
import io.kotest.property.arbitrary.list
import io.kotest.property.arbitrary.pair
import java.time.Instant
import java.util.concurrent.Executor
import java.util.concurrent.RejectedExecutionException
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.DynamicTest
import org.junit.jupiter.api.DynamicTest.dynamicTest
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.TestFactory

/** Tests a monitor and the thread that it watches, on a fake clock. */
class HeartbeatMonitorTest {
    /**
     * Simulates an event thread that is held in the given spans. A task that arrives during a span runs at the span's
     * end.
     */
    private class World(private val held: List<Pair<Double, Double>>, val runs: Boolean = true) :
        Executor, ThreadObserver {
        var nowMs = 0.0

        /** Counts the time of a thread in the spans of `waits`, as time that the thread was ready without a core. */
        private inner class Queued(private val waits: List<Pair<Double, Double>>) : Waiting {
            private var toldMs = 0.0

            override fun takeMs(): Double {
                val sum = waits.sumOf { (from, until) -> (minOf(nowMs, until) - from).coerceAtLeast(0.0) }
                return (sum - toldMs).also { toldMs = sum }
            }

            override fun close() = Unit
        }

        /** The spans in which the whole process is stopped, in the middle of the monitor's own work. */
        var frozen = emptyList<Pair<Double, Double>>()
        private var ownMs = 0.0

        override fun ownCpuMs(): Double = ownMs

        private val queue = ArrayDeque<Pair<Double, Runnable>>()
        var refuses = false
        var stackSamples = 0
        val recorder = Recorder(RecorderOptions(null, 60.0, 4.0, 1000, { monitor.sources() }))
        val monitor: HeartbeatMonitor =
            HeartbeatMonitor(this, HeartbeatOptions(4.0, beatMs = 2.0, stacks = true), recorder, { nowMs }, this)

        init {
            recorder.begin(0.0, Instant.EPOCH)
            monitor.restart(0.0)
        }

        override fun stack(thread: Thread): List<String> = listOf("app").also { stackSamples++ }

        /** Returns the monitor's own counter to its first call, then null. */
        override fun waiting(): Waiting? = own.also { own = null }

        private var own: Waiting? = null

        override fun cpuMs(thread: Thread): Double =
            if (runs) held.sumOf { (from, until) -> (minOf(nowMs, until) - from).coerceAtLeast(0.0) } else 0.0

        /** If the monitor sends a beat in one of these spans, it has no core until the span's end. */
        var keptSending = emptyList<Pair<Double, Double>>()

        override fun execute(task: Runnable) {
            if (refuses) throw RejectedExecutionException("closed")
            val comesMs = nowMs + WAY_MS
            val span = held.find { (from, until) -> comesMs >= from && comesMs < until }
            queue += (span?.second ?: comesMs) to task
            nowMs = keptSending.find { (from, until) -> nowMs >= from && nowMs < until }?.second ?: nowMs
        }

        /** Runs the tasks of the event thread that are due by `ms`, each at its time. */
        private fun runUntil(ms: Double) {
            while (queue.isNotEmpty() && queue.first().first <= ms) {
                val (atMs, task) = queue.removeFirst()
                nowMs = atMs
                task.run()
            }
            nowMs = ms
        }

        /**
         * Ticks until `untilMs` and returns the report. The monitor sleeps through the spans of `asleep`. If `queued`
         * is true, the system counts these spans as ready without a core. In the spans of `busy`, the monitor's thread
         * runs other code.
         */
        fun play(
            untilMs: Double,
            asleep: List<Pair<Double, Double>> = emptyList(),
            queued: Boolean = false,
            busy: List<Pair<Double, Double>> = emptyList(),
        ): StallReport {
            if (queued) own = Queued(asleep + keptSending)
            while (nowMs < untilMs) {
                val nextMs = monitor.tick()
                frozen.find { (from, until) -> nextMs >= from && nextMs < until }?.let { (_, until) -> nowMs = until }
                busy
                    .find { (from, until) -> nextMs >= from && nextMs < until }
                    ?.let { (_, until) ->
                        ownMs += until - nowMs
                        runUntil(until)
                    }
                monitor.waitsFrom(nowMs)
                val dueMs = maxOf(nextMs, nowMs)
                runUntil(asleep.find { (from, until) -> dueMs >= from && dueMs < until }?.second ?: dueMs)
            }
            monitor.finish(nowMs)
            recorder.explain(nowMs)
            return recorder.report(nowMs)
        }
    }

    @Test
    fun `a thread that answers at once has no stalls`() {
        val world = World(emptyList())
        assertTrue(world.play(1000.0).stalls.isEmpty())
        assertTrue(world.monitor.answered)
        assertEquals(0, world.stackSamples)
    }

    @Test
    fun `the monitor finds stalls of any length within 1 ms and within their stated error`() {
        val stalls = Arb.list(Arb.pair(Arb.double(5.0, 50.0), Arb.double(6.0, 400.0)), 1..10)
        forAll(stalls) { parts ->
            var atMs = 20.0
            val held = parts.map { (gap, length) -> (atMs + gap to atMs + gap + length).also { atMs = it.second } }
            val found = World(held).play(atMs + 50).stalls
            assertEquals(held.size, found.size)
            for ((index, stall) in found.withIndex()) {
                val error = Math.abs(stall.lengthMs - (held[index].second - held[index].first))
                assertTrue(error <= stall.errorMs + 1e-6) { "off by $error, stated ${stall.errorMs}" }
                assertTrue(error <= 1.0 + 1e-6) { "off by $error" }
            }
        }
    }

    @Test
    fun `a stall leaves one beat in the queue, and stack samples become rarer`() {
        val world = World(listOf(100.0 to 10_100.0))
        val report = world.play(10_200.0)
        assertEquals(1, report.stalls.size)
        assertEquals(40, world.stackSamples)
        assertEquals("it was seen in app", report.stalls[0].because)
    }

    @Test
    fun `the monitor finds no stall when it was delayed itself while the thread answered`() {
        assertTrue(World(emptyList()).play(1000.0, asleep = listOf(200.0 to 300.0)).stalls.isEmpty())
    }

    @Test
    fun `a collection that another thread causes is a stall of an idle thread, with the cause gc`() {
        fun stalls(isToldLate: Boolean): List<Stall> {
            val world = World(emptyList())
            fun tell() = world.recorder.garbageCollected(201.0, 259.0)
            if (!isToldLate) tell()
            val report = world.play(1000.0, asleep = listOf(200.5 to 259.5))
            if (!isToldLate) return report.stalls
            tell()
            world.recorder.explain(1000.0)
            return world.recorder.report(1000.0).stalls
        }
        for (isToldLate in listOf(false, true)) {
            val stall = stalls(isToldLate).single()
            assertEquals(listOf("gc", 201.0, 58.0), listOf(stall.cause.word, stall.startMs, stall.lengthMs))
        }
    }

    @Test
    fun `a collection in a stall of the thread counts once`() {
        for (told in listOf(200.0 to 260.0, 190.0 to 202.0, 290.0 to 301.0)) {
            val world = World(listOf(199.0 to 300.0), runs = false)
            world.recorder.garbageCollected(told.first, told.second)
            val stalls = world.play(1000.0).stalls
            val sorted = stalls.sortedBy { it.startMs }
            assertTrue(sorted.zipWithNext().all { (a, b) -> a.startMs + a.lengthMs <= b.startMs }) { "$sorted" }
            assertTrue(stalls.sumOf { it.lengthMs } <= 111.0) { "$sorted" }
        }
    }

    @TestFactory
    fun `the cause of a stall during which the monitor did not run is`(): List<DynamicTest> {
        val gone = listOf(200.5 to 299.0)
        fun case(name: String, runs: Boolean = true, act: World.() -> StallReport) =
            dynamicTest(name) {
                val report = World(listOf(200.0 to 300.0), runs).act()
                assertEquals(listOf(name.substringBefore(",")), report.causes.map { it.cause.word })
                if ("ran other code" in name) assertEquals(0.0, report.stalls[0].machineMs)
            }
        return listOf(
            case("machine, if the monitor was delayed, too") { play(1000.0, asleep = gone) },
            case("app, if the monitor's thread ran other code") { play(1000.0, busy = gone) },
            case("machine, if the process was stopped in the middle of the monitor's own work", runs = false) {
                frozen = gone
                play(1000.0)
            },
            case("app, if the thread ran meanwhile, so that the process was not stopped") {
                frozen = gone
                play(1000.0)
            },
            case("app, if the monitor waited for the core that the thread used") {
                play(1000.0, asleep = gone, queued = true)
            },
            case("machine, if the monitor waited for a core that the thread did not use", runs = false) {
                play(1000.0, asleep = gone, queued = true)
            },
        )
    }

    @Test
    fun `the cause is the machine when the monitor lost its core while it sent a beat`() {
        val held = listOf(200.0 to 210.0)
        fun cause(queued: Boolean, runs: Boolean = false): String {
            val world = World(held, runs).apply { keptSending = held }
            val stalls = world.play(1000.0, queued = queued).stalls
            assertEquals(1, stalls.size)
            return stalls[0].cause.name.lowercase()
        }
        assertEquals(listOf("machine", "unknown"), listOf(cause(queued = true), cause(queued = false)))
        // If the thread itself had that core, no source shows a cause, and the machine is not the cause.
        assertEquals("unknown", cause(queued = true, runs = true))
    }

    @Test
    fun `the thread's own clock shows a stall that began and ended while the monitor was delayed`() {
        val stalls = World(listOf(200.5 to 210.5)).play(1000.0, asleep = listOf(200.6 to 212.0)).stalls
        assertEquals(listOf(10L), stalls.map { Math.round(it.lengthMs) })
        assertTrue(stalls[0].errorMs >= 10)
        val slept = World(listOf(200.5 to 210.5), runs = false).play(1000.0, asleep = listOf(200.6 to 212.0)).stalls
        assertTrue(slept.isEmpty())
    }

    @Test
    fun `the report contains the stall that continues at the run's end, up to that end`() {
        val report = World(listOf(500.0 to 5000.0)).play(900.0)
        assertEquals(1, report.stalls.size)
        assertEquals(report.durationMs, report.stalls[0].startMs + report.stalls[0].lengthMs)
        assertEquals(400.0, report.stalls[0].lengthMs, 3.0)
    }

    @Test
    fun `a first beat that runs after the end of the watch opens no counter`() {
        var opened = 0
        val observer =
            object : ThreadObserver {
                override fun stack(thread: Thread): List<String> = emptyList()

                override fun cpuMs(thread: Thread): Double = Double.NaN

                override fun waiting(): Waiting? = null.also { opened++ }
            }
        val beats = ArrayList<Runnable>()
        val recorder = Recorder(RecorderOptions(null, 60.0, 4.0, 1000, { emptyList() }))
        val options = HeartbeatOptions(4.0, beatMs = 2.0, stacks = true)
        val monitor = HeartbeatMonitor({ beats += it }, options, recorder, { 0.0 }, observer)
        monitor.tick()
        monitor.finish(0.0)
        opened = 0
        beats.single().run()
        assertEquals(0, opened)
    }

    @Test
    fun `the watch ends when the executor rejects tasks, and the report says so`() {
        val world = World(emptyList())
        world.play(100.0)
        world.refuses = true
        world.monitor.tick()
        assertTrue(world.monitor.isRefused)
        val source = world.monitor.sources().first { it.name == "heartbeat" }
        assertEquals(false to "the executor takes no more tasks: closed", source.available to source.why)
    }

    @Test
    fun `the run queue reads the second number of Linux's schedstat`() {
        val line = java.nio.ByteBuffer.wrap("1234567 8900000 12\n".toByteArray())
        assertEquals(8_900_000.0, RunQueue.waitedNs(line))
        assertEquals(0.0, RunQueue.waitedNs(java.nio.ByteBuffer.wrap(ByteArray(0))))
    }

    private companion object {
        const val WAY_MS = 0.25
    }
}
