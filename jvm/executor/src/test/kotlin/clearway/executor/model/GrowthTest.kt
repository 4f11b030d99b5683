// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.executor.model

import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

class GrowthTest {
    private val growth = Growth(Costs(processors = 2))

    @Test
    fun `elastic threads double while items wait, threads sleep and a processor is idle`() {
        var asleep = 1
        val added =
            List(6) {
                val more = growth.next(BatchSample(waiting = 40, asleep, awake = 0, idleProcessors = 2))
                assertTrue(more.elastic)
                asleep += more.threads
                more.threads
            }
        assertEquals(listOf(1, 2, 4, 8, 16, 32), added)
    }

    @Test
    fun `growth never adds more threads than items wait`() {
        repeat(6) { growth.next(BatchSample(waiting = 3, asleep = 1, awake = 0, idleProcessors = 2)) }
        assertEquals(3, growth.next(BatchSample(waiting = 3, asleep = 9, awake = 0, idleProcessors = 2)).threads)
        assertEquals(0, growth.next(BatchSample(waiting = 0, asleep = 9, awake = 0, idleProcessors = 2)).threads)
    }

    @Test
    fun `growth adds no thread for a preempted one`() {
        assertEquals(0, growth.next(BatchSample(waiting = 40, asleep = 0, awake = 2, idleProcessors = 0)).threads)
        assertEquals(0, growth.next(BatchSample(waiting = 40, asleep = 2, awake = 0, idleProcessors = 0)).threads)
    }

    @Test
    fun `growth adds CPU workers to a busy caller, and elastic threads when no worker came`() {
        val sample = BatchSample(waiting = 40, asleep = 0, awake = 1, idleProcessors = 1)
        val more = growth.next(sample)
        assertEquals(1, more.threads)
        assertFalse(more.elastic)
        assertTrue(growth.next(sample).elastic)
        assertEquals(0, growth.next(BatchSample(waiting = 40, asleep = 0, awake = 2, idleProcessors = 1)).threads)
    }

    /** Returns the threads that growth adds to samples that do not change, as a list of sample numbers and threads. */
    private fun added(samples: Int, sample: BatchSample, by: Growth = growth): List<Pair<Int, Growth.More>> =
        (0 until samples).map { it to by.next(sample) }.filter { it.second.threads > 0 }

    @Test
    fun `growth adds one thread when no item is claimed for long, and doubles its patience`() {
        val busy = BatchSample(waiting = 40, asleep = 0, awake = 2, idleProcessors = 0)
        val asleep = BatchSample(waiting = 40, asleep = 2, awake = 0, idleProcessors = 0)
        val full = BatchSample(waiting = 40, asleep = 256, awake = 0, idleProcessors = 2)
        val first = Growth.PATIENCE_MIN
        for (sample in listOf(busy, asleep, full)) {
            val added = added(samples = first * 8, sample, Growth(Costs(processors = 2)))
            assertEquals(listOf(first, first * 3, first * 7), added.map { it.first })
            assertTrue(added.all { it.second.threads == 1 })
            // The CPU workers help if all elastic threads hang, and the other way round.
            assertEquals(listOf(true, false, true), added.map { it.second.elastic })
        }
    }

    @Test
    fun `growth adds no thread while items are claimed now and then`() {
        for (waiting in 40 downTo 1) {
            val sample = BatchSample(waiting, asleep = 0, awake = 2, idleProcessors = 0)
            assertEquals(emptyList<Any>(), added(samples = Growth.PATIENCE_MIN, sample))
        }
    }

    @Test
    fun `growth adds a thread at once when all threads have left and items wait`() {
        val empty = BatchSample(waiting = 3, asleep = 0, awake = 0, idleProcessors = 0, left = 2)
        val added = added(samples = Growth.PATIENCE_MIN + 1, empty)
        // The second thread comes in case that the first one hangs elsewhere.
        assertEquals(listOf(0, Growth.PATIENCE_MIN), added.map { it.first })
        assertTrue(added.first().second.elastic)
    }

    @Test
    fun `growth adds no elastic thread to a batch that waits in the queue of busy workers`() {
        val queued = BatchSample(waiting = 3, asleep = 0, awake = 0, idleProcessors = 0)
        assertFalse(added(samples = Growth.PATIENCE_MIN * 8, queued).any { it.second.elastic })
    }
}
