// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.meter

import java.util.concurrent.Callable
import java.util.concurrent.CompletableFuture
import java.util.concurrent.CompletionStage
import java.util.concurrent.Executor
import java.util.concurrent.Executors
import java.util.concurrent.RejectedExecutionException
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertSame
import org.junit.jupiter.api.Assertions.assertThrows
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

class FrameDropsTest {
    private fun drops(vararg lagsMs: Double, hz: Double = 60.0) = FrameDrops(0, lagsMs.toList(), lagsMs.sum(), hz)

    @Test
    fun `a lag of 1001 ms drops 59 frames by our formula and 63 by the published one`() {
        val found = drops(1.0, 1001.0)
        assertEquals(listOf(59, 63, 2), listOf(found.dropped, found.droppedAsPublished, found.probes))
        assertEquals(listOf(501.0, 1001.0, 1002.0), listOf(found.lagMeanMs, found.lagMaxMs, found.totalMs))
        assertEquals(listOf(1.0 to 1001.0), found.drops.map { it.startMs to it.lagMs })
        assertEquals("Jank: 59 frames dropped, max lag 1001 ms", "$found")
    }

    @Test
    fun `the line of a smooth run has the lags and the number of probes`() {
        assertEquals("Smooth: max lag 8 ms, average 5 ms, 2 probes", drops(8.0, 2.0).verdict)
        assertEquals("Smooth: max lag 0.43 ms, average 0.43 ms, 1 probe", drops(0.4251).verdict)
        assertEquals(0, drops().droppedAsPublished)
    }

    @Test
    fun `a lag is the time between two probes, and the last one ends with the stage`() {
        var nowMs = 0.0
        val stage = CompletableFuture<String>()
        var isFirst = true
        // Runs the function, and none of the probing thread's probes.
        val executor = Executor { if (isFirst) it.run().also { isFirst = false } }
        val probe = FrameProbe(executor, 120.0, { stage }) { nowMs }
        probe.start()
        for (atMs in listOf(1.0, 3.0, 33.0)) {
            nowMs = atMs
            probe.probe()
        }
        nowMs = 34.0
        stage.complete("rows")
        val found = probe.result.get()
        assertEquals(listOf(1.0, 2.0, 30.0, 1.0), found.lagsMs)
        assertEquals(listOf(3, 4), listOf(found.dropped, found.droppedAsPublished))
        assertEquals("rows", found.value)
    }

    @Test
    fun `a function that blocks its thread is one lag`() {
        val thread = Executors.newSingleThreadExecutor()
        try {
            val found = Meter.measureFrameDrops(thread, 60.0, Callable { Thread.sleep(100) })
            assertEquals(1, found.probes)
            assertTrue(found.lagMaxMs >= 99) { "lagMaxMs=${found.lagMaxMs}" }
            assertTrue(found.dropped >= 5) { "dropped=${found.dropped}" }
        } finally {
            thread.shutdown()
        }
    }

    @Test
    fun `a stage is probed until it completes`() {
        val thread = Executors.newSingleThreadExecutor()
        try {
            val stage = CompletableFuture<Int>()
            var tasks = 0
            // The function itself is the first task. The stage completes after ten probes.
            val counting = Executor { task ->
                thread.execute {
                    task.run()
                    if (++tasks == 11) stage.complete(3)
                }
            }
            val found = Meter.measureFrameDropsStage(counting, 60.0, Callable<CompletionStage<Int>> { stage })
            assertEquals(listOf(3, 11), listOf(found.value, found.probes))
        } finally {
            thread.shutdown()
        }
    }

    @Test
    fun `the function's own exception, a refusing executor and a wrong rate reach the caller`() {
        val own = IllegalStateException("own")
        val run = Executor(Runnable::run)
        assertSame(own, assertThrows(IllegalStateException::class.java) { Meter.measureFrameDrops(run) { throw own } })
        val refusing = Executor { throw RejectedExecutionException() }
        assertThrows(RejectedExecutionException::class.java) { Meter.measureFrameDrops(refusing) { 1 } }
        val wrong = assertThrows(IllegalArgumentException::class.java) { Meter.measureFrameDrops(run, 0.0) { 1 } }
        assertEquals("hz must be over 0, at most 1000: hz=0.0", wrong.message)
        // The probes' executor may begin to refuse later.
        var first = true
        val closing = Executor { if (first) it.run().also { first = false } else throw RejectedExecutionException() }
        assertThrows(RejectedExecutionException::class.java) {
            Meter.measureFrameDropsStage(closing, 60.0, Callable { CompletableFuture<Int>() })
        }
    }
}
