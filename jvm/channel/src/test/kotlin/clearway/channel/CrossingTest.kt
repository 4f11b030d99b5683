// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.channel

import clearway.channel.codec.Codecs
import clearway.channel.codec.MethodCodec
import clearway.channel.transport.ChannelTransport
import clearway.channel.transport.MemoryTransport
import clearway.channel.transport.StreamTransport
import clearway.channel.transport.TransportLimits
import java.io.PrintWriter
import java.io.StringWriter
import java.math.BigInteger
import java.util.concurrent.CompletableFuture
import java.util.concurrent.ConcurrentLinkedQueue
import java.util.concurrent.ExecutionException
import java.util.concurrent.LinkedBlockingQueue
import java.util.concurrent.TimeUnit
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertNull
import org.junit.jupiter.api.Assertions.assertThrows
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

class ExpectedTypeTest {
    private val unsigned64 = BigInteger("18446744073709551615")

    /** Serves a method and events that both return what they are given. */
    private fun echoes(act: (Methods, Events) -> Unit) = endpoints { here, there ->
        there.methods("echo").handle(MethodTable().on("get") { args, _ -> args })
        there.events("echoes").serveEach({ args -> args as List<*> })
        act(here.methods("echo"), here.events("echoes"))
    }

    private fun refused(call: CompletableFuture<*>): UnexpectedValueException =
        assertThrows(ExecutionException::class.java) { call.get() }.cause as UnexpectedValueException

    @Test
    fun `a call fails when its result does not fit the number type that was asked for`() = echoes { echo, _ ->
        val size = refused(echo.call<Int>("get", 5_000_000_000L))
        assertEquals("echo.get: result must be Int: result=5000000000", size.message)
        assertEquals(
            listOf("echo", "get", "result", "Int", 5_000_000_000L, ChannelError.PROTOCOL),
            listOf(size.channel, size.method, size.path, size.expected, size.value, size.error),
        )
        assertEquals(2.9, refused(echo.call<Int>("get", 2.9)).value)
        assertEquals(Double.NaN, refused(echo.call<Long>("get", Double.NaN)).value)
        assertEquals(unsigned64, refused(echo.call<Long>("get", unsigned64)).value)
        assertEquals(128, refused(echo.call<Byte>("get", 128)).value)
        assertEquals(-32_769, refused(echo.call<Short>("get", -32_769)).value)
        val odd = (1L shl 53) + 1
        assertEquals(odd, refused(echo.call<Double>("get", odd)).value)
        assertEquals(1e300, refused(echo.call<Float>("get", 1e300)).value)
        assertEquals(1e-300, refused(echo.call<Float>("get", 1e-300)).value)
        assertEquals(16_777_217, refused(echo.call<Float>("get", 16_777_217)).value)
        assertEquals(16_777_217.0, refused(echo.call<Float>("get", 16_777_217.0)).value)
        // The other end may have meant 2^53 + 1.
        val rounded = odd.toDouble()
        assertEquals(rounded, refused(echo.call<Long>("get", rounded)).value)
        assertEquals(1e300, refused(echo.call<BigInteger>("get", 1e300)).value)
    }

    @Test
    fun `a call fails when JSON has rounded the integer that was asked for`() = endpoints { here, there ->
        there.methods("json", Codecs.JSON_METHODS).handle(MethodTable().on("get") { args, _ -> args })
        val json = here.methods("json", Codecs.JSON_METHODS)
        assertEquals((1L shl 53) - 1, json.call<Long>("get", (1L shl 53) - 1).get())
        refused(json.call<Long>("get", (1L shl 53) + 1))
    }

    @Test
    fun `a call converts a number when that loses nothing`() = echoes { echo, _ ->
        assertEquals(7L, echo.call<Long>("get", 7).get())
        assertEquals(7.0, echo.call<Double>("get", 7).get())
        assertEquals(3, echo.call<Int>("get", 3.0).get())
        assertEquals(-128, echo.call<Byte>("get", -128).get())
        assertEquals(BigInteger.TEN, echo.call<BigInteger>("get", 10).get())
        assertEquals(0.1f, echo.call<Float>("get", 0.1).get())
        assertEquals(Float.POSITIVE_INFINITY, echo.call<Float>("get", Double.POSITIVE_INFINITY).get())
        assertEquals(5_000_000_000L, echo.call<Number>("get", 5_000_000_000L).get())
    }

    @Test
    fun `a call fails when its result has another type`() = echoes { echo, _ ->
        assertEquals(5, refused(echo.call<String>("get", 5)).value)
        assertEquals("5", refused(echo.call<Int>("get", "5")).value)
        assertEquals("echo.get: result must be Int: result=null", refused(echo.call<Int>("get")).message)
        assertNull(echo.call<Int?>("get").get())
        assertNull(echo.call<Any?>("get").get())
        assertEquals(Unit, echo.call<Unit>("get").get())
        val long = "x".repeat(1_000_000)
        assertTrue(checkNotNull(refused(echo.call<Int>("get", long)).message).length < 200)
    }

    @Test
    fun `a call checks the elements of lists and maps`() = echoes { echo, _ ->
        assertEquals(listOf(1L, 2L), echo.call<List<Long>>("get", listOf(1, 2)).get())
        assertEquals(mapOf("a" to 1.0), echo.call<Map<String, Double>>("get", mapOf("a" to 1)).get())
        val nested = refused(echo.call<Map<String, List<Int>>>("get", mapOf("sizes" to listOf(1, 5_000_000_000L))))
        assertEquals("result[\"sizes\"][1]", nested.path)
        assertEquals("Int", nested.expected)
        assertEquals("result.keys", refused(echo.call<Map<String, Int>>("get", mapOf(1 to 1))).path)
        // Two keys that are one after their conversion would lose an entry.
        assertEquals("result", refused(echo.call<Map<Int, String>>("get", mapOf(1 to "a", 1.0 to "b"))).path)
        assertEquals(listOf(1, null, "a"), echo.call<List<*>>("get", listOf(1, null, "a")).get())
    }

    @Test
    fun `a stream ends at an event of another type, after the events before it`() = echoes { _, echoes ->
        echoes.listen<Int>(listOf(1, 2, 5_000_000_000L, 4)).use { stream ->
            assertEquals(1, stream.read().get().value)
            assertEquals(2, stream.read().get().value)
            val wrong = refused(stream.read())
            assertEquals("echoes: event must be Int: event=5000000000", wrong.message)
            assertTrue(stream.read().get().isEnd)
        }
        echoes.listen<Long>(listOf(1, 2)).use { assertEquals(listOf(1L, 2L), it.toList()) }
    }
}

/** Tests of channel names that are longer than one end accepts. */
class NamesTest {
    private val long = "n".repeat(100)

    private fun failure(future: CompletableFuture<*>): Throwable? = Outcome.of(future).get(60, TimeUnit.SECONDS).error

    @Test
    fun `a name too long for the other end fails calls, and no handler`() {
        for (wire in listOf(Wire.CLEARWAY, Wire.PLAIN)) {
            endpoints(EndpointOptions().wire(wire), EndpointOptions().wire(wire).nameBytesMax(50)) { ours, theirs ->
                ours.methods(long).handle(MethodTable())
                ours.messages("$long/messages").handle({ _, _ -> Reply.empty() })
                ours.events("$long/events").serve({ _, _ -> })
                assertTrue(failure(ours.methods(long).call<Any>("it")) is IllegalArgumentException)
                assertTrue(failure(ours.messages(long).post("it")) is IllegalArgumentException)
                assertTrue(failure(ours.events(long).listen<Any>().read()) is IllegalArgumentException)
                assertEquals(0, ours.stats().run { calls + listening })
                // The endpoints still work.
                theirs.methods("short").handle(MethodTable().on("it") { _, _ -> 7 })
                assertEquals(7, ours.methods("short").call<Any>("it").get(60, TimeUnit.SECONDS))
            }
        }
    }

    @Test
    fun `a name too long for this end is refused by the channel's constructors`() =
        endpoints(EndpointOptions().nameBytesMax(50)) { end, _ ->
            for (make in listOf({ end.methods(long) }, { end.messages(long) }, { end.events(long) })) {
                assertThrows(IllegalArgumentException::class.java) { make() }
            }
        }

    @Test
    fun `a transport whose frames are too small for an error is refused`() {
        val (a, b) = MemoryTransport.pair(TransportLimits(1023))
        assertThrows(IllegalArgumentException::class.java) { Endpoint.connect(a) }
        b.close(clearway.channel.transport.CloseReason.CLOSED)
    }
}

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
        val (here, there) = MemoryTransport.pair()
        val quiet = options.wire(wire).onError { _, _ -> }
        lateinit var failures: List<Outcome<*>>
        endpoints(EndpointOptions().wire(wire), quiet, Pair(here, change(there))) { a, b ->
            b.methods("m").handle(MethodTable().on("fails") { _, _ -> throw thrown() })
            b.events("e").serve({ _, sink -> sink.fail(thrown()) })
            val failing = listOf(a.methods("m").call<Any>("fails"), a.events("e").listen<Any>().read())
            failures = failing.map { Outcome.of(it).get(60, TimeUnit.SECONDS) }
        }
        return failures.map { it.error as RemoteException }
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
            val (here, there) = MemoryTransport.pair(TransportLimits(1024))
            fun options() = EndpointOptions().wire(wire)
            endpoints(options(), options(), Pair(here, change(there))) { a, b ->
                b.methods("m").handle(MethodTable().on("it") { _, _ -> throw RemoteException("BIG", long, long) })
                val error = Outcome.of(a.methods("m").call<Any>("it")).get(60, TimeUnit.SECONDS).error
                assertEquals("BIG", (error as RemoteException).code)
                assertTrue(error.message.orEmpty().startsWith("xxxx"))
            }
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

/** The contract of an endpoint with values that no frame can hold, over any transport. */
abstract class FrameLimitContract {
    abstract fun transports(): Pair<ChannelTransport, ChannelTransport>

    /** A value of a few bytes whose message has 160 MB, because it names one list many times. It counts the places. */
    private class Named : AbstractList<ByteArray>(), RandomAccess {
        private val named = ByteArray(NAMED_BYTES)
        var written = 0
            private set

        override val size: Int
            get() = 10_000

        override fun get(index: Int): ByteArray {
            written++
            return named
        }
    }

    private class Limited(under: ChannelTransport) : ChannelTransport by under {
        override val frameBytesMax: Int
            get() = FRAME_BYTES_MAX
    }

    private fun withEnds(act: (Endpoint, Endpoint, MethodCodec) -> Unit) {
        for (wire in listOf(Wire.CLEARWAY, Wire.PLAIN)) {
            for (codec in listOf(Codecs.STANDARD_METHODS, Codecs.JSON_METHODS)) {
                val (here, there) = transports()
                val options = EndpointOptions().wire(wire).onError { _, _ -> }
                endpoints(options, options, Pair(Limited(here), Limited(there))) { a, b -> act(a, b, codec) }
            }
        }
    }

    private fun error(outcome: java.util.concurrent.CompletableFuture<*>): Throwable? =
        Outcome.of(outcome).get(60, TimeUnit.SECONDS).error

    private fun code(error: Throwable?): String? = (error as? ChannelException)?.code ?: (error as RemoteException).code

    private fun check(value: Named) {
        assertTrue(value.written in 1..FRAME_BYTES_MAX / NAMED_BYTES + 1, "${value.written} lists")
    }

    @Test
    fun `the arguments of a call, a message and a listen are written up to the limit only`() = withEnds { a, _, codec ->
        val values = List(4) { Named() }
        assertEquals("too-large", code(error(a.methods("m", codec).call<Any?>("it", values[0]))))
        assertEquals("too-large", code(error(a.messages("n", Codecs.STANDARD).send(values[1]))))
        assertEquals("too-large", code(error(a.messages("n", Codecs.STANDARD).post(values[2]))))
        assertEquals("too-large", code(error(a.events("e", codec).listen<Any?>(values[3]).read())))
        values.forEach(::check)
    }

    @Test
    fun `an answer is written up to the limit only, and the caller gets an error`() = withEnds { a, b, codec ->
        val values = List(2) { Named() }
        b.methods("m", codec).handle(MethodTable().on("it") { _, _ -> values[0] })
        b.messages("n", Codecs.STANDARD).handle { _, _ -> Reply.of(values[1]) }
        val called = error(a.methods("m", codec).call<Any?>("it"))
        // On the plain wire, an answer that cannot be sent has no bytes.
        assertEquals(if (a.wire == Wire.PLAIN) "not-implemented" else "too-large", code(called))
        val sent = Outcome.of(a.messages("n", Codecs.STANDARD).send(1)).get(60, TimeUnit.SECONDS)
        if (a.wire == Wire.PLAIN) assertEquals(null, sent.value?.value) else assertEquals("too-large", code(sent.error))
        values.forEach(::check)
    }

    @Test
    fun `an error's details are written up to the limit only, and the error crosses without them`() =
        withEnds { a, b, codec ->
            val values = List(2) { Named() }
            b.methods("m", codec)
                .handle(MethodTable().on("it") { _, _ -> throw RemoteException("BIG", "b", values[0]) })
            b.events("e", codec).serve({ _, sink -> sink.fail(RemoteException("BIG", "b", values[1])) })
            val errors =
                listOf(error(a.methods("m", codec).call<Any?>("it")), error(a.events("e", codec).listen<Any?>().read()))
            for (error in errors) assertEquals(
                Pair("BIG", null),
                (error as RemoteException).run { Pair(code, details) },
            )
            values.forEach(::check)
        }

    @Test
    fun `an event is written up to the limit only, and ends its stream after the events before it`() =
        withEnds { a, b, codec ->
            val values = List(2) { Named() }
            val sent = LinkedBlockingQueue<Boolean>()
            b.events("push", codec)
                .serve({ _, sink -> for (it in listOf(1, values[0], 2)) sent += sink.send(it).get() })
            b.events("pull", codec).serveEach({ listOf(1, values[1], 2) })
            for (channel in listOf("push", "pull")) {
                val stream = a.events(channel, codec).listen<Any?>()
                assertEquals(1, stream.read().get(60, TimeUnit.SECONDS).value)
                assertEquals("too-large", code(error(stream.read())))
            }
            assertEquals(listOf(true, false, false), List(3) { sent.poll(60, TimeUnit.SECONDS) })
            values.forEach(::check)
        }

    private companion object {
        const val FRAME_BYTES_MAX = 200_000
        const val NAMED_BYTES = 16_000
    }
}
