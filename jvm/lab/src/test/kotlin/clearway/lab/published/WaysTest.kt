// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.lab.published

import java.util.concurrent.ConcurrentHashMap
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertNotNull
import org.junit.jupiter.api.Assertions.assertThrows
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.DynamicTest
import org.junit.jupiter.api.DynamicTest.dynamicTest
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.TestFactory

/** What holds for every way: its results, its errors, and its threads after `close`. */
internal class WaysTest {
    private fun each(test: (WayKind) -> Unit): List<DynamicTest> =
        Ways.all.filter { it.unavailable == null }.map { kind -> dynamicTest(kind.name) { test(kind) } }

    @Test
    fun `the published ways are the sixteen of the text`() {
        val names =
            "direct rxjava-single rxjava-computation rxjava-io coroutines-blocking coroutines-default " +
                "coroutines-default-limited coroutines-io flow flow-default flow-default-limited flow-io fixed-pool " +
                "work-stealing fixed-100 work-stealing-100"
        assertEquals(names.split(" "), Ways.all.filter { it.isPublished }.map { it.name })
        assertEquals(Ways.all.size, Ways.all.distinctBy { it.name }.size)
        assertThrows(IllegalArgumentException::class.java) { Ways.named("rx") }
    }

    @TestFactory
    fun `each way runs every action once with its seed, also when opened again after close`() = each { kind ->
        repeat(2) {
            kind.open().use { way ->
                repeat(2) {
                    val runs = ConcurrentHashMap<Int, Int>()
                    way.run(List(100) { it }) { seed -> runs.merge(seed, 1, Int::plus)!! }
                    assertEquals((0 until 100).associateWith { 1 }, runs)
                }
            }
        }
    }

    @TestFactory
    fun `each way has complete and correct results of the works that compute`() = each { kind ->
        kind.open().use { way ->
            for (work in listOf("arithmetic", "lists")) {
                val function = PublishedWorks.named(work)
                val run = ListRun(way, function, 100)
                run.timeNs(1)
                assertEquals(List(100) { function(it) }, run.results())
            }
        }
    }

    @TestFactory
    fun `each way runs an empty list`() = each { kind ->
        kind.open().use { way -> way.run(emptyList()) { throw AssertionError("nothing to run") } }
    }

    @TestFactory
    fun `an action that throws ends the list with its exception, and the way runs the next list`() = each { kind ->
        for (thrown in listOf(IllegalStateException("seven"), AssertionError("seven"))) {
            kind.open().use { way ->
                val found =
                    assertThrows(Throwable::class.java) {
                        way.run(List(20) { it }) { seed -> if (seed == 7) throw thrown else seed }
                    }
                assertNotNull(generateSequence(found) { it.cause }.find { it.message == "seven" })
                val after = ConcurrentHashMap.newKeySet<Int>()
                way.run(List(20) { it }) { seed -> after.add(seed) }
                assertEquals(20, after.size)
            }
        }
    }

    @TestFactory
    fun `no thread of a way is left after close`() = each { kind ->
        val threads = ConcurrentHashMap.newKeySet<Thread>()
        kind.open().use { way -> way.run(List(100) { it }) { threads.add(Thread.currentThread()) } }
        // Coroutines share their threads with the whole JVM, so those threads belong to no way.
        val own = threads.filter { it !== Thread.currentThread() && !it.name.startsWith("DefaultDispatcher-worker") }
        for (thread in own) thread.join(ENDED_MS)
        assertTrue(own.none { it.isAlive }) { "alive: ${own.filter { it.isAlive }}" }
    }

    private companion object {
        /** Limit in ms for a test that fails. A thread that ends makes `join` return at once. */
        const val ENDED_MS = 60_000L
    }
}
