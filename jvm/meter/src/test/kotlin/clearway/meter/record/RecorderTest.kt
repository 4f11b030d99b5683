// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.meter.record

import clearway.meter.MarkShare
import clearway.meter.SourceState
import clearway.meter.Stall
import clearway.meter.StallCause
import clearway.meter.StallReport
import java.time.Instant
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

class RecorderTest {
    private val there = listOf(SourceState("watcher", true), SourceState("garbage collection", true))

    private fun recorder(
        sources: List<SourceState> = there,
        stallsMax: Int = 100,
        marks: List<MarkShare> = emptyList(),
    ): Recorder =
        Recorder(RecorderOptions(null, 60.0, 4.0, stallsMax, { sources }, { _, _ -> marks })).apply {
            begin(1000.0, Instant.parse("2026-01-01T00:00:00Z"))
        }

    private fun stall(startMs: Double, endMs: Double, errorMs: Double = 0.0, continuesLast: Boolean = false) =
        DetectedStall(startMs, endMs, startMs - errorMs, errorMs, continuesLast)

    private fun only(report: StallReport): Stall {
        assertEquals(1, report.stalls.size)
        return report.stalls[0]
    }

    private fun Recorder.only() = only(report(5000.0))

    @Test
    fun `a stall that continues is recorded as one stall`() {
        val recorder = recorder()
        recorder.detected(stall(1100.0, 1200.0))
        recorder.detected(stall(1200.0, 1203.0, continuesLast = true))
        assertEquals(100.0 to 103.0, recorder.only().let { it.startMs to it.lengthMs })
    }

    @Test
    fun `the recorder cuts a stall at the run's start and end, and drops it when the rest is below the floor`() {
        val recorder = recorder()
        recorder.detected(stall(900.0, 1050.0))
        recorder.end(2000.0)
        recorder.detected(stall(1990.0, 2500.0))
        recorder.detected(stall(2600.0, 2700.0))
        assertEquals(
            listOf(0.0 to 50.0, 990.0 to 10.0),
            recorder.report(2000.0).stalls.map { it.startMs to it.lengthMs },
        )
        val short = recorder()
        short.detected(stall(900.0, 1002.0))
        assertTrue(short.report(5000.0).stalls.isEmpty())
    }

    @Test
    fun `the cause is the machine when the idle watcher was delayed for half of the stall`() {
        val recorder = recorder()
        recorder.watcherLate(1105.0, 1190.0)
        recorder.detected(stall(1100.0, 1200.0))
        assertEquals(StallCause.MACHINE to 85.0, recorder.only().let { it.cause to it.machineMs })
    }

    @Test
    fun `the cause is the machine when the thread waited for an event that was already queued`() {
        val recorder = recorder()
        recorder.stack(1110.0, emptyList())
        recorder.stack(1120.0, emptyList())
        recorder.stack(1140.0, listOf("sort"))
        recorder.detected(stall(1100.0, 1160.0))
        val stall = recorder.only()
        assertEquals("the thread had nothing to do and was woken 40.0 ms late", stall.because)
        assertEquals(StallCause.MACHINE to 1, stall.cause to stall.stacks.size)
    }

    @Test
    fun `the cause is the machine when the thread was ready without a core for half of the stall`() {
        val recorder = recorder()
        recorder.queued(1130.0, 1200.0)
        recorder.detected(stall(1100.0, 1200.0))
        assertEquals("the thread was ready, and not run, for 70.0 ms of it", recorder.only().because)
    }

    @Test
    fun `delays of the idle watcher and of the thread add up, limited by the time that the thread did not run`() {
        fun stall(ranMs: Double): Stall {
            val recorder = recorder()
            recorder.watcherLate(1100.0, 1140.0)
            recorder.queued(1130.0, 1170.0)
            recorder.ran(1090.0, 1210.0, ranMs)
            recorder.detected(stall(1100.0, 1200.0))
            return recorder.only()
        }
        assertEquals(StallCause.MACHINE to 70.0, stall(ranMs = 10.0).let { it.cause to it.machineMs })
        assertEquals(StallCause.APP to 45.0, stall(ranMs = 55.0).let { it.cause to it.machineMs })
        assertEquals(StallCause.APP to 40.0, stall(ranMs = 90.0).let { it.cause to it.machineMs })
    }

    @Test
    fun `the cause is the app when the thread waited, and the reason does not call it busy`() {
        val recorder = recorder()
        recorder.ran(1000.0, 1050.0, 50.0)
        recorder.ran(1099.0, 1203.0, 12.0)
        recorder.detected(stall(1100.0, 1200.0))
        val stall = recorder.only()
        assertEquals(
            "the thread waited, as for a lock: it ran for 12.0 ms at most, " +
                "and neither the machine nor garbage collection held it",
            stall.because,
        )
        assertEquals(StallCause.APP, stall.cause)
    }

    @Test
    fun `a collection that delays the watcher does not count for the machine`() {
        val recorder = recorder()
        recorder.watcherLate(1110.0, 1185.0)
        recorder.garbageCollected(1110.0, 1180.0)
        recorder.detected(stall(1100.0, 1200.0))
        val stall = recorder.only()
        assertEquals(listOf(StallCause.GC, 70.0, 5.0), listOf(stall.cause, stall.gcMs, stall.machineMs))
    }

    @Test
    fun `the reason names the stack that was sampled most often within the stall`() {
        val recorder = recorder()
        recorder.stack(1120.0, listOf("inner", "outer"))
        recorder.stack(1140.0, listOf("sort"))
        recorder.stack(1160.0, listOf("sort"))
        recorder.stack(1300.0, listOf("later"))
        recorder.detected(stall(1100.0, 1200.0))
        val stall = recorder.only()
        assertEquals(StallCause.APP to "it was seen in sort", stall.cause to stall.because)
        assertEquals(
            listOf(listOf("sort") to 2, listOf("inner", "outer") to 1),
            stall.stacks.map { it.frames to it.seen },
        )
    }

    @Test
    fun `the reason names the measured function only for the stall in which it ran`() {
        val recorder = recorder()
        recorder.call(1100.0, 1190.0, "load")
        recorder.detected(stall(1100.0, 1200.0))
        recorder.detected(stall(1300.0, 1400.0))
        assertEquals(
            listOf(
                "load ran without giving the thread back",
                "the thread was busy, and neither the machine nor garbage collection held it",
            ),
            recorder.report(5000.0).stalls.map { it.because },
        )
    }

    @Test
    fun `the cause is unknown when no watcher runs, and the reason says why`() {
        val recorder = recorder(listOf(SourceState("watcher", false, "still starting")))
        recorder.detected(stall(1100.0, 1110.0))
        val stall = recorder.only()
        assertEquals(StallCause.UNKNOWN, stall.cause)
        assertTrue("still starting" in stall.because)
    }

    @Test
    fun `the recorder explains each stall once, in order, after its evidence has had time to arrive`() {
        val recorder = recorder()
        recorder.detected(stall(1100.0, 1110.0))
        recorder.detected(stall(1200.0, 1220.0))
        assertEquals(listOf(10.0), recorder.explain(1150.0).map { it.lengthMs })
        assertEquals(2, recorder.report(5000.0).stalls.size)
        assertEquals(listOf(20.0), recorder.explain(1300.0).map { it.lengthMs })
        assertTrue(recorder.explain(1400.0).isEmpty())
        assertEquals(2, recorder.report(5000.0).stalls.size)
    }

    @Test
    fun `the recorder bounds its memory and reports the time after the dropped stalls`() {
        val recorder = recorder(stallsMax = 8)
        for (index in 0 until 9) recorder.detected(stall(1000.0 + index * 100, 1010.0 + index * 100))
        recorder.explain(5000.0)
        val report = recorder.report(2000.0)
        assertEquals(listOf(2, 7, 890.0), listOf(report.droppedStalls, report.stalls.size, report.durationMs))
    }

    @Test
    fun `the worst second is among the kept stalls when earlier stalls were dropped`() {
        val recorder = recorder(stallsMax = 8)
        for (index in 0 until 9) recorder.detected(stall(10_000.0 + index * 100, 10_010.0 + index * 100))
        recorder.explain(20_000.0)
        val worst = recorder.report(12_000.0).worstSecond
        assertEquals(listOf(9200.0, 70.0), listOf(worst.startMs, worst.stalledMs))
    }

    @Test
    fun `a new run drops all recorded stalls`() {
        val recorder = recorder()
        recorder.detected(stall(1100.0, 1200.0))
        recorder.explain(1500.0)
        recorder.begin(2000.0, Instant.EPOCH)
        val report = recorder.report(2500.0)
        assertEquals(listOf(500.0, 0, 0), listOf(report.durationMs, report.stalls.size, report.droppedStalls))
    }
}
