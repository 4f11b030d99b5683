// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.lab.published

import clearway.lab.protocol.Cell
import clearway.lab.protocol.Measured
import clearway.lab.protocol.Value
import java.util.concurrent.ConcurrentHashMap
import kotlinx.serialization.json.JsonObject
import kotlinx.serialization.json.JsonPrimitive
import kotlinx.serialization.json.buildJsonObject
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertInstanceOf
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

    @Test
    fun `a way that is opened for each list has a new executor each time and none between two lists`() {
        val events = mutableListOf<String>()
        val kind =
            WayKind("counted", isPublished = false) {
                events += "open"
                object : Way {
                    override fun run(list: List<Int>, action: (Int) -> Any) = list.forEach { events += "${action(it)}" }

                    override fun close() {
                        events += "close"
                    }
                }
            }
        kind.opened().open().use { way -> repeat(2) { way.run(listOf(7)) { it } } }
        assertEquals("open 7 close open 7 close".split(" "), events)
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

internal class MeasureWaysTest {
    private fun cell(mechanism: String, work: String, change: Map<String, JsonPrimitive> = emptyMap()): Cell {
        val params =
            mapOf(
                "work" to JsonPrimitive(work),
                "actions" to JsonPrimitive(10),
                "warmMs" to JsonPrimitive(0),
                "runs" to JsonPrimitive(3),
                "runsMs" to JsonPrimitive(60_000),
                "countMs" to JsonPrimitive(0),
            )
        return Cell("offload", "published-executors", mechanism, params + change, JsonObject(emptyMap()))
    }

    @Test
    fun `a round has the asked number of runs, their median, and the tally of the last one`() {
        val found = measureWays(cell("rxjava-computation", "mixed"))
        val times = found.samples.getValue("batchTimes")
        assertEquals(listOf(3, 1), listOf(times.ns.size, times.batch))
        assertEquals(times.ns.sorted()[1] / 1e6, found.values.getValue("batch").value)
        assertEquals(JsonPrimitive(10), (found.result as JsonObject)["done"])
    }

    @Test
    fun `the time for the runs ends a round after at least one run`() {
        val found = measureWays(cell("fixed-pool", "storage", mapOf("runsMs" to JsonPrimitive(0))))
        assertEquals(1, found.samples.getValue("batchTimes").ns.size)
    }

    @Test
    fun `every measurement has the counts of a way, though only the first one counts if a run is long`() {
        val long = cell("rxjava-single", "storage")
        val (first, second) = List(2) { measureWays(long) }
        assertEquals(1.0, first.values.getValue("threads").value)
        assertEquals(counts(first), counts(second))
        val short = measureWays(cell("rxjava-single", "storage", mapOf("countMs" to JsonPrimitive(60_000))))
        assertEquals(1.0, short.values.getValue("threads").value)
    }

    private fun counts(measured: Measured): Pair<Map<String, Value>, List<String>> {
        val counts = measured.values.filterKeys { it == "threads" || it == "allocations" }
        // A missing count always has its reason.
        assertEquals("allocations" !in counts, measured.notes.any { "allocations are not counted" in it })
        return counts to measured.notes
    }

    @Test
    fun `without the native library, objects are absent with the reason, and the function still runs`() {
        var ran = 0
        val found = AllocationCount.of(2) { ran++ }
        assertEquals(2, ran)
        val absent = assertInstanceOf(AllocationCount.Absent::class.java, found)
        assertTrue("node scripts/jvm-lab.mjs" in absent.why)
        val measured = measureWays(cell("flow", "arithmetic", mapOf("countMs" to JsonPrimitive(1_000))))
        assertTrue("allocations" !in measured.values)
        assertTrue(measured.notes.single().startsWith("allocations are not counted: "))
    }

    @Test
    fun `parameters without a meaning are refused with their values`() {
        for (change in listOf("actions" to 0, "actions" to 1_001, "runs" to 0)) {
            val wrong = cell("direct", "lists", mapOf(change.first to JsonPrimitive(change.second)))
            val thrown = assertThrows(IllegalArgumentException::class.java) { measureWays(wrong) }
            assertTrue("${change.first}=${change.second}" in thrown.message!!)
        }
        assertThrows(IllegalArgumentException::class.java) { measureWays(cell("direct", "list")) }
        assertThrows(IllegalArgumentException::class.java) { measureWays(cell("directly", "lists")) }
    }
}

internal class PublishedWorksTest {
    private fun resultsOf(work: String, actions: Int = 100): List<Any?> =
        Ways.named("direct").open().use { way ->
            ListRun(way, PublishedWorks.named(work), actions).also { it.timeNs(1) }.results()
        }

    @Test
    fun `arithmetic is the power of floats as an int, which stays at the largest int`() {
        val found = resultsOf("arithmetic")
        assertEquals(listOf<Any>(1, 1, 4, 27, 256, 3125, 46656, 823543, 16777216, 387420480), found.take(10))
        assertTrue(found.drop(10).all { it == Int.MAX_VALUE })
    }

    @Test
    fun `lists has the squares above five, by the text of their float`() {
        val found = resultsOf("lists", 5).last()
        assertEquals(mapOf("2.3" to (2 + 0.3f) * (2 + 0.3f), "3.3" to (3 + 0.3f) * (3 + 0.3f)), found)
    }

    @Test
    fun `mixed has each seed's own work`() {
        val found = resultsOf("mixed", 16)
        val kinds = found.map { if (it is Int) "arithmetic" else if (it is Map<*, *>) "lists" else "waits" }
        val waits = setOf(0, 3, 5, 6, 9, 10, 12, 15)
        val expected = List(16) { if (it in waits) "waits" else if (it % 2 == 0) "lists" else "arithmetic" }
        assertEquals(expected, kinds)
    }

    @Test
    fun `network and mixed are warmed up with storage, which is short`() {
        assertEquals(
            listOf("arithmetic", "lists", "storage", "storage", "storage"),
            PublishedWorks.names.map(PublishedWorks::warmUpOf),
        )
        assertThrows(IllegalArgumentException::class.java) { PublishedWorks.named("list") }
    }

    @Test
    fun `a tally has the number of results and their sum, and no result of an earlier run`() {
        val way =
            object : Way {
                var left = 2

                override fun run(list: List<Int>, action: (Int) -> Any) {
                    if (left-- == 2) list.forEach { action(it) } else list.take(3).forEach { action(it) }
                }
            }
        val run = ListRun(way, { seed -> seed }, 10)
        run.timeNs(1)
        assertEquals(tally(10, 45), run.tally())
        run.timeNs(1)
        assertEquals(tally(3, 3), run.tally())
    }

    private fun tally(done: Int, checksum: Int) = buildJsonObject {
        put("done", JsonPrimitive(done))
        put("checksum", JsonPrimitive(checksum))
    }
}
