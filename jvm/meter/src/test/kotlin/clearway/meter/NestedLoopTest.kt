// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.meter

import java.util.concurrent.Executor
import java.util.concurrent.LinkedBlockingQueue
import kotlin.concurrent.thread
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

class NestedLoopTest {
    /** An event loop, which a task can run again from within, as a modal dialog does. */
    private class Loop : Executor {
        private val tasks = LinkedBlockingQueue<Runnable>()

        override fun execute(task: Runnable) {
            tasks.add(task)
        }

        fun runOne(): Unit = tasks.take().run()
    }

    private fun measured(function: (Loop) -> Unit): Measurement<Unit> {
        val loop = Loop()
        val events = thread(isDaemon = true) { while (!Thread.interrupted()) loop.runOne() }
        return Meter.measure(loop) { function(loop) }.also { loop.execute { events.interrupt() } }
    }

    @Test
    fun `a measured function that runs a nested event loop did not block its thread meanwhile`() {
        // Each task of the nested loop is a beat of the meter.
        val measured = measured { loop -> repeat(50) { loop.runOne() } }
        assertTrue(measured.report.longestMs < measured.runtimeMs) { measured.report.toString() }
    }

    @Test
    fun `a measured function without a nested event loop is one stall`() {
        val measured = measured { Thread.sleep(20) }
        assertEquals(measured.runtimeMs, measured.report.longestMs, 0.01)
        assertEquals(1, measured.report.stalls.size)
    }
}
