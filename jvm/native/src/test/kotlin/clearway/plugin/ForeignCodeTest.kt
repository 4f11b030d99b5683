// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.plugin

import clearway.channel.Endpoint
import clearway.channel.Outcome
import clearway.channel.codec.Codecs
import clearway.channel.codec.MessageCodec
import clearway.channel.transport.MemoryTransport
import clearway.plugin.channel.PluginServer
import clearway.plugin.channel.ServedChannels
import java.util.concurrent.CompletableFuture
import java.util.concurrent.CountDownLatch
import java.util.concurrent.Executor
import java.util.concurrent.RejectedExecutionException
import java.util.concurrent.TimeUnit
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.DynamicTest
import org.junit.jupiter.api.DynamicTest.dynamicTest
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.TestFactory

/**
 * Tests of application code that throws, re-enters the plugin or returns invalid results, at every point where it is
 * called.
 */
@NeedsPlugins
class ForeignCodeTest {
    /** An exception whose `message` and `toString` throw. */
    private class Odd : RuntimeException() {
        override val message: String
            get() = throw IllegalStateException("odd")

        override fun toString(): String = throw IllegalStateException("odd")
    }

    private val throwing =
        mapOf<String, () -> Nothing>(
            "an exception" to { throw IllegalStateException("broken") },
            "an Error" to { throw AssertionError("broken") },
            "a StackOverflowError" to { throw StackOverflowError() },
            "TODO()" to { TODO() },
            "a plugin's exception" to { throw PluginException(PluginErrorCode.FAILED, "broken") },
            "an exception whose message throws" to { throw Odd() },
        )

    /**
     * A point at which application code is called. `reach` opens a plugin with that code, makes the plugin call the
     * code, and waits until the calls have settled.
     */
    private class Point(val name: String, val reach: (foreign: () -> Unit) -> Plugin)

    private val points =
        listOf(
            Point("a handler") { foreign -> asked(handler = foreign) },
            Point("an executor of handlers") { foreign ->
                asked(PluginOptions().executor(Executor { task -> foreign().also { task.run() } }))
            },
            Point("an executor that runs the handler") { foreign ->
                asked(PluginOptions().executor(Executor { task -> task.run().also { foreign() } }))
            },
            Point("onLog") { foreign ->
                open(PluginOptions().onLog { _, _ -> foreign() }).also { plugin ->
                    repeat(3) { plugin.channel("say").call(int32s(1)).close() }
                    settled(plugin.channel("pool/echo").send(int32s(1)))
                }
            },
            Point("what depends on an answer") { foreign ->
                open().also { plugin ->
                    val answers = List(3) { plugin.channel("pool/echo").send(int32s(1)) }
                    for (each in answers.map { it.thenAccept { foreign() } }) settled(each)
                    for (each in answers) each.thenAccept { it.close() }
                }
            },
        )

    /** Opens a plugin, lets it ask a question that `handler` answers with null, and waits for the end of its call. */
    private fun asked(options: PluginOptions = PluginOptions(), handler: () -> Unit = {}): Plugin =
        open(options).also { plugin ->
            plugin.handle("probe/asked") { handler().let { null } }
            settled(plugin.channel("ask").send(int32s(1)))
        }

    private fun settled(future: CompletableFuture<*>) {
        future.handle { _, _ -> }.get(LIMIT, TimeUnit.SECONDS)
    }

    /**
     * Checks that the plugin still answers, sends events and closes, and that no memory, call or thread of it remains.
     */
    private fun assertWorks(plugin: Plugin) {
        assertEquals(7, numberIn(plugin.channel("echo").call(int32s(7))))
        plugin.channel("pool/echo").send(int32s(8)).get(LIMIT, TimeUnit.SECONDS).use { assertEquals(8, numberIn(it)) }
        val events = plugin.channel("ticks").listen(ListenOptions().arguments(int32s(10, 16, 0)))
        assertEquals(10, events.count())
        assertEquals(0, plugin.stats().native.getValue("calls"))
        assertEquals(0, plugin.stats().leaked)
        plugin.close()
        while (Thread.getAllStackTraces().keys.any { it.name == "clearway plugin" }) Thread.onSpinWait()
    }

    /** Runs [assertWorks] after the pumps of other tests have ended. */
    private fun leavesNothing(act: () -> Plugin) {
        while (Thread.getAllStackTraces().keys.any { it.name == "clearway plugin" }) Thread.onSpinWait()
        assertWorks(act())
    }

    @TestFactory
    fun `everything settles and the plugin goes on when foreign code throws`(): List<DynamicTest> =
        throwing.flatMap { (what, thrown) ->
            points.map { point ->
                dynamicTest("${point.name} throws $what") { leavesNothing { point.reach { thrown() } } }
            }
        }

    @TestFactory
    fun `the plugin goes on when foreign code throws and the handler of uncaught errors throws too`():
        List<DynamicTest> {
        val broken = Thread.UncaughtExceptionHandler { _, _ -> throw IllegalStateException("broken") }
        return points.map { point ->
            dynamicTest(point.name) {
                val before = Thread.getDefaultUncaughtExceptionHandler()
                Thread.setDefaultUncaughtExceptionHandler(broken)
                try {
                    leavesNothing { point.reach { throw AssertionError("broken") } }
                } finally {
                    Thread.setDefaultUncaughtExceptionHandler(before)
                }
            }
        }
    }

    @TestFactory
    fun `the plugin goes on when foreign code calls it`(): List<DynamicTest> =
        points.map { point ->
            dynamicTest(point.name) {
                leavesNothing {
                    point.reach {
                        open().use { other -> assertEquals(1, numberIn(other.channel("echo").call(int32s(1)))) }
                    }
                }
            }
        }

    @Test
    fun `a handler that hangs does not hold up others, and closing fails the call`() {
        val plugin = open()
        val release = CountDownLatch(1)
        val begun = CountDownLatch(1)
        plugin.handle("probe/asked") {
            begun.countDown()
            release.await()
            null
        }
        val asked = plugin.channel("ask").send(int32s(1))
        begun.await()
        plugin.channel("pool/echo").send(int32s(8)).get(LIMIT, TimeUnit.SECONDS).use { assertEquals(8, numberIn(it)) }
        plugin.close()
        assertEquals(PluginErrorCode.CLOSED, codeOf { asked.get(LIMIT, TimeUnit.SECONDS) })
        release.countDown()
    }

    @Test
    fun `a handler that answers with released memory fails its call`() = probe { plugin ->
        val before = live(plugin)
        plugin.handle("probe/asked") { plugin.allocate(100).also { it.close() } }
        assertEquals(
            PluginErrorCode.FAILED,
            codeOf { plugin.channel("ask").send(int32s(1)).get(LIMIT, TimeUnit.SECONDS) },
        )
        backTo(before, plugin)
    }

    @Test
    fun `a handler's executor that refuses releases the message and answers its call as full`() =
        probe(PluginOptions().executor { throw RejectedExecutionException("full") }) { plugin ->
            val before = live(plugin)
            plugin.handle("probe/asked") { null }
            val payload = ByteArray(5000)
            assertEquals(
                PluginErrorCode.FULL,
                codeOf { plugin.channel("ask").send(payload).get(LIMIT, TimeUnit.SECONDS) },
            )
            backTo(before, plugin)
            assertEquals(0, plugin.stats().leaked)
        }

    @TestFactory
    fun `a codec that throws ends its listener's stream, and the plugin goes on`(): List<DynamicTest> =
        throwing.map { (what, thrown) ->
            dynamicTest("throws $what") {
                leavesNothing {
                    val plugin = open()
                    val (a, b) = MemoryTransport.pair()
                    val ends = listOf(a, b).map { Endpoint.connect(it) }.map { it.get(LIMIT, TimeUnit.SECONDS) }
                    val codec =
                        object : MessageCodec<ByteArray> by Codecs.BINARY {
                            override fun decode(message: ByteArray): ByteArray? = thrown()
                        }
                    PluginServer.serve(plugin, ends[1], ServedChannels().events("ticks", codec)).use {
                        val stream = ends[0].events("ticks").listen<Any>(null)
                        val outcome = Outcome.of(stream.read()).get(LIMIT, TimeUnit.SECONDS)
                        assertTrue(outcome.error != null || outcome.value?.isEnd == true)
                    }
                    for (end in ends) end.terminate()
                    while (plugin.stats().native.getValue("streams") > 0) Thread.onSpinWait()
                    plugin
                }
            }
        }

    private companion object {
        const val LIMIT = 60L
    }
}
