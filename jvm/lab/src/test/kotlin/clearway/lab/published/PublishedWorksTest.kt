// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.lab.published

import kotlinx.serialization.json.JsonPrimitive
import kotlinx.serialization.json.buildJsonObject
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertThrows
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

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
