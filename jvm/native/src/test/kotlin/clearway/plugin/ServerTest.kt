// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.plugin

import clearway.channel.ChannelError
import clearway.channel.ChannelException
import clearway.channel.Endpoint
import clearway.channel.RemoteException
import clearway.channel.Reply
import clearway.channel.codec.Codecs
import clearway.channel.transport.MemoryTransport
import clearway.plugin.channel.PluginServer
import clearway.plugin.channel.ServedChannels
import java.nio.file.Files
import java.util.concurrent.CompletionException
import org.junit.jupiter.api.Assertions.assertArrayEquals
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertThrows
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Assumptions.assumeTrue
import org.junit.jupiter.api.Test

@NeedsPlugins
class ServerTest {
    private fun served(plugin: Plugin, channels: ServedChannels, use: (Endpoint) -> Unit) {
        val (a, b) = MemoryTransport.pair()
        val both = listOf(Endpoint.connect(a), Endpoint.connect(b)).map { it.join() }
        PluginServer.serve(plugin, both[1], channels).use { use(both[0]) }
        both[0].terminate()
        both[1].closed.join()
    }

    private fun causeOf(run: () -> Unit): Throwable? = assertThrows(CompletionException::class.java) { run() }.cause

    @Test
    fun `a plugin at an endpoint answers messages, small and large, and the other end answers its own`() {
        open().use { plugin ->
            val before = live(plugin)
            served(plugin, ServedChannels().messages("echo", "pool/echo", "pool/make", "ask").asks("probe/asked")) {
                here ->
                assertEquals(
                    mapOf("a" to listOf(1, 2)),
                    here.messages("echo").send(mapOf("a" to listOf(1, 2))).join().value,
                )
                assertEquals("text", here.messages("pool/echo").send("text").join().value)
                val made = here.messages("pool/make", Codecs.BINARY).send(int32s(100_000)).join().value
                assertArrayEquals(ByteArray(100_000) { 7 }, made)
                here.messages("probe/asked", Codecs.BINARY).handle { bytes, _ -> Reply.of((bytes ?: ByteArray(0)) + 9) }
                val asked = here.messages("ask", Codecs.BINARY).send(byteArrayOf(1)).join().value
                assertArrayEquals(byteArrayOf(1, 9), asked)
            }
            backTo(before, plugin)
            assertEquals(0, plugin.stats().leaked)
        }
    }

    @Test
    fun `an answer without bytes reaches the plugin as the null message`() {
        open().use { plugin ->
            served(plugin, ServedChannels().asks("probe/asked")) { here ->
                here.messages("probe/asked", Codecs.BINARY).handle { _, _ -> Reply.of(ByteArray(0)) }
                plugin.channel("ask").send(int32s(1)).join().use { assertTrue(it.isNull) }
            }
        }
    }

    @Test
    fun `its failures are remote errors, and an unknown method is not implemented`() {
        open().use { plugin ->
            served(plugin, ServedChannels().messages("fail", "unknown")) { here ->
                val failed = causeOf { here.messages("fail").send("x").join() } as RemoteException
                assertEquals("failed", failed.code)
                assertEquals("fail: the probe was asked to fail", failed.message)
                val unknown = causeOf { here.methods("unknown").call<Any>("anything").join() } as ChannelException
                assertEquals(ChannelError.NOT_IMPLEMENTED, unknown.error)
            }
        }
    }

    @Test
    fun `its events reach the other end, and leaving them ends the source`() {
        val path = Built.example("c", "example")
        assumeTrue(Files.exists(path), "the example plugin in C was not built")
        Plugin.load(path).use { plugin ->
            served(plugin, ServedChannels().events("sensor", Codecs.BINARY)) { here ->
                val events = here.events("sensor").listen<ByteArray>(mapOf("rate" to 0, "count" to 500))
                assertEquals(500, events.use { all -> all.count { it.size == 24 } })
                here.events("sensor").listen<ByteArray>(mapOf("rate" to 0)).use { endless ->
                    assertEquals(24, endless.first().size)
                }
                while (plugin.stats().native.getValue("streams") > 0) Thread.yield()
            }
        }
    }
}
