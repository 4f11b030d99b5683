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
}
