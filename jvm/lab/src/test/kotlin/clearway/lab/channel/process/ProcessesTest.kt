// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.lab.channel.process

import clearway.lab.channel.Caller
import clearway.lab.channel.Row
import clearway.lab.codec.plain
import java.io.IOException
import java.lang.ProcessBuilder.Redirect
import org.junit.jupiter.api.Assertions.assertArrayEquals
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertThrows
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.params.ParameterizedTest
import org.junit.jupiter.params.provider.MethodSource

/** Tests all mechanisms that call a child process, with real children: JVMs that run the lab's own program. */
internal class ProcessesTest {
    private fun row(
        payload: String,
        channel: String = "message",
        codec: String = "standard",
        background: Boolean = false,
    ) = Row.of(listOf(if (background) "host to process, background" else "host to process", channel, codec, payload))

    /** Runs `act` with a child of its own. The child has ended when this function returns. */
    private fun <T> asking(mechanism: String, row: Row, act: (Caller) -> T): T {
        val child = EchoChild.start(mechanism, row)
        try {
            return Processes.open(mechanism, row) { child }.use(act)
        } finally {
            assertFalse(child.isAlive, "$mechanism: its child is left behind")
        }
    }

    @ParameterizedTest
    @MethodSource("mechanisms")
    fun `each mechanism returns bytes unchanged, one at a time and three in flight, on the reading thread`(
        mechanism: String
    ) {
        val row = row("1 MB", codec = "binary")
        asking(mechanism, row) { caller ->
            assertArrayEquals(row.value as ByteArray, caller.call() as ByteArray)
            val answers = List(3) { caller.send() }
            for (each in answers) assertArrayEquals(row.value as ByteArray, each.await() as ByteArray)
            val before = caller.copiedBytes
            caller.call()
            // The bytes of both directions, plus the mechanism's headers.
            assertTrue(caller.copiedBytes - before in (2L shl 20)..(2L shl 20) + 200)
        }
    }

    @ParameterizedTest
    @MethodSource("mechanisms")
    fun `each mechanism returns values that the peer decoded and encoded behind a queue`(mechanism: String) {
        val row = row("2 KB", channel = "method", background = true)
        asking(mechanism, row) { caller ->
            val answers = List(3) { caller.send() }
            for (each in answers + caller.send()) assertEquals(plain(row.value, false), plain(each.await(), false))
        }
    }

    @Test
    fun `a child ends when its standard input ends`() {
        val words = row("null").words
        // Discards the errors that a child without a connection prints.
        val children = Processes.names.map { EchoChild(EchoChild.command(listOf(it) + words), Redirect.DISCARD) }
        for (child in children) child.outputStream.close()
        for (child in children) child.waitFor()
    }

    @ParameterizedTest
    @MethodSource("mechanisms")
    fun `opening a mechanism throws with the exit status when the child ends at once`(mechanism: String) {
        val row = row("2 KB")
        val child = EchoChild(EchoChild.command(listOf("nobody") + row.words), Redirect.DISCARD)
        val thrown = assertThrows(Exception::class.java) { Processes.open(mechanism, row) { child }.use { it.call() } }
        assertTrue(Regex("(code=|status )1\\b").containsMatchIn(thrown.message.orEmpty()), "$thrown")
        assertFalse(child.isAlive)
    }

    @Test
    fun `starting a child throws with the command when it cannot start`() {
        val thrown = assertThrows(IOException::class.java) { EchoChild(listOf("/nowhere/java")) }
        assertTrue("/nowhere/java" in thrown.message.orEmpty(), "$thrown")
    }

    private companion object {
        @JvmStatic fun mechanisms() = Processes.names
    }
}
