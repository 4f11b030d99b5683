// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.channel

import clearway.channel.transport.ChannelTransport
import clearway.channel.transport.MemoryTransport
import clearway.channel.transport.StreamTransport
import clearway.channel.transport.TransportLimits
import java.io.PrintWriter
import java.io.StringWriter
import java.util.concurrent.ConcurrentLinkedQueue
import java.util.concurrent.TimeUnit
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertNull
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

/** Checks which parts of handlers' and sources' errors are sent to the other end. */
class ExposureTest {
    private val secret = "Bearer c2VjcmV0"
    private val wires = listOf(Wire.CLEARWAY, Wire.PLAIN)

    /** Returns an error with a secret, such as a database client may throw. */
    private fun leaky() =
        IllegalStateException("no answer", RuntimeException("connect with $secret")).apply {
            stackTrace = arrayOf(StackTraceElement(secret, "query", "Db.java", 1))
        }

    /** Returns a transport that is not trusted, as a WebSocket is not. */
    private fun untrusted(transport: ChannelTransport) = WithoutPause(transport)

    private fun trusted(transport: ChannelTransport) = transport

    /** Returns the errors that a caller and a listener receive, one each. */
    private fun told(
        wire: Wire,
        change: (ChannelTransport) -> ChannelTransport,
        options: EndpointOptions,
        thrown: () -> Throwable,
    ): List<RemoteException> {
        val (a, b) = MemoryTransport.pair()
        val ends =
            listOf(
                    Endpoint.connect(a, EndpointOptions().wire(wire)),
                    Endpoint.connect(change(b), options.wire(wire).onError { _, _ -> }),
                )
                .map { it.get(60, TimeUnit.SECONDS) }
        try {
            ends[1].methods("m").handle(MethodTable().on("fails") { _, _ -> throw thrown() })
            ends[1].events("e").serve({ _, sink -> sink.fail(thrown()) })
            val failures =
                listOf(ends[0].methods("m").call<Any>("fails"), ends[0].events("e").listen<Any>().read()).map {
                    Outcome.of(it).get(60, TimeUnit.SECONDS)
                }
            return failures.map { it.error as RemoteException }
        } finally {
            for (end in ends) end.terminate()
        }
    }

    private fun everything(error: Throwable) = StringWriter().also { error.printStackTrace(PrintWriter(it)) }.toString()

    @Test
    fun `an error crosses by code and message alone when the other end is another program`() {
        for (wire in wires) for (error in told(wire, ::untrusted, EndpointOptions()) { leaky() }) {
            assertEquals(listOf("error", "no answer", null), listOf(error.code, error.message, error.details))
            assertNull(error.cause)
            assertFalse(secret in everything(error))
        }
    }

    @Test
    fun `an error crosses with the details that its handler chose, without those of another end's error`() {
        for (wire in wires) {
            val chosen = { RemoteException("BUSY", "later", listOf(7), cause = leaky()) }
            for (error in told(wire, ::untrusted, EndpointOptions(), chosen)) {
                assertEquals(listOf("BUSY", "later", listOf(7)), listOf(error.code, error.message, error.details))
                assertFalse(secret in everything(error))
            }
            val passed = { RemoteException("BUSY", "later", secret, "backend") }
            for (error in told(wire, ::untrusted, EndpointOptions(), passed)) assertEquals(
                listOf("BUSY", "later", null),
                listOf(error.code, error.message, error.details),
            )
        }
    }

    @Test
    fun `an error does not cross whole to a part of the program when exposeErrors is false`() {
        for (wire in wires) for (error in told(wire, ::trusted, EndpointOptions().exposeErrors(false)) { leaky() }) {
            assertEquals("no answer", error.message)
            assertFalse(secret in everything(error))
        }
    }

    @Test
    fun `an error crosses whole to a part of the program, and to any end when exposeErrors is true`() {
        for (error in
            told(Wire.CLEARWAY, ::trusted, EndpointOptions()) { leaky() } +
                told(Wire.CLEARWAY, ::untrusted, EndpointOptions().exposeErrors(true)) { leaky() }) {
            val cause = error.cause as RemoteCause
            assertEquals("java.lang.IllegalStateException", cause.remoteName)
            assertEquals("connect with $secret", cause.cause?.message)
            assertTrue(secret in cause.remoteStack)
        }
    }

    @Test
    fun `redactError chooses the error that crosses, and gets the channel`() {
        val channels = ConcurrentLinkedQueue<String>()
        val redact = { error: Throwable, channel: String ->
            channels += channel
            RemoteException("HIDDEN", "${error.message?.length} characters")
        }
        for (wire in wires) for (change in listOf(::trusted, ::untrusted)) {
            for (error in told(wire, change, EndpointOptions().redactError(redact)) { leaky() }) {
                assertEquals(listOf("HIDDEN", "9 characters"), listOf(error.code, error.message))
                assertFalse(secret in everything(error))
            }
        }
        assertEquals(setOf("m", "e"), channels.toSet())
    }

    @Test
    fun `nothing of an error crosses when redactError throws`() {
        for (wire in wires) for (broken in listOf(IllegalStateException(secret), AssertionError(secret))) {
            val options = EndpointOptions().redactError { _, _ -> throw broken }
            for (error in told(wire, ::trusted, options) { leaky() }) {
                assertEquals(listOf("error", "an error that is not told"), listOf(error.code, error.message))
                assertFalse(secret in everything(error))
            }
        }
    }

    @Test
    fun `an error that is larger than a frame crosses with its code and the beginning of its message`() {
        val long = "x".repeat(2 shl 20)
        for (wire in wires) for (change in listOf(::trusted, ::untrusted)) {
            val limits = TransportLimits(1024)
            val (a, b) = MemoryTransport.pair(limits)
            val connecting = listOf(a, change(b)).map { Endpoint.connect(it, EndpointOptions().wire(wire)) }
            val ends = connecting.map { it.get(60, TimeUnit.SECONDS) }
            ends[1].methods("m").handle(MethodTable().on("it") { _, _ -> throw RemoteException("BIG", long, long) })
            val error = Outcome.of(ends[0].methods("m").call<Any>("it")).get(60, TimeUnit.SECONDS).error
            assertEquals("BIG", (error as RemoteException).code)
            assertTrue(error.message.orEmpty().startsWith("xxxx"))
            for (end in ends) end.terminate()
        }
    }

    @Test
    fun `only a parent's and a child's streams are trusted`() {
        val process = ProcessBuilder(System.getProperty("java.home") + "/bin/java", "-version").start()
        assertTrue(StreamTransport.ofChild(process).isTrusted)
        assertFalse(StreamTransport.of(process.inputStream, process.outputStream).isTrusted)
        process.destroy()
        process.waitFor()
    }
}
