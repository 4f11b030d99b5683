// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.lab.fork

import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

/** How a measuring JVM is started. */
internal class ForkTest {
    @Test
    fun `a JVM gets the options of its cell after the usual ones`() {
        val usual = Fork.command("")
        val command = Fork.command("-XX:ActiveProcessorCount=8 -Da=b")
        assertEquals(usual.size + 2, command.size)
        val at = command.indexOf("-XX:ActiveProcessorCount=8")
        assertEquals(usual[0], command[0])
        assertEquals("-Da=b", command[at + 1])
        assertTrue(command.subList(1, at).containsAll(Fork.options))
    }

    @Test
    fun `a JVM is started by the program of its cell`() {
        assertEquals(listOf("taskset", "-c", "0") + Fork.command(""), Fork.command("taskset -c 0"))
    }
}
