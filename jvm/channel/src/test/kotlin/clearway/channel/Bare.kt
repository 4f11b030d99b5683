// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.channel

import clearway.channel.codec.Codecs
import clearway.channel.codec.MethodCall
import clearway.channel.endpoint.Clock
import clearway.channel.endpoint.Timer
import clearway.channel.transport.ChannelTransport
import clearway.channel.transport.CloseReason
import clearway.channel.transport.Log
import clearway.channel.transport.MemoryTransport
import clearway.channel.transport.TransportLimits
import clearway.channel.wire.Flag
import clearway.channel.wire.Frame
import clearway.channel.wire.Head
import clearway.channel.wire.Hello
import clearway.channel.wire.Op
import clearway.channel.wire.Status
import clearway.channel.wire.WIRE_VERSION
import clearway.channel.wire.readFrame
import clearway.channel.wire.writeFrame
import clearway.channel.wire.writeHello
import java.net.URLClassLoader
import java.nio.ByteBuffer
import java.nio.ByteOrder
import java.util.concurrent.CompletableFuture
import java.util.concurrent.TimeUnit
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertNotSame
import org.junit.jupiter.api.Assertions.assertTrue

/** Connects an endpoint to a bare peer that writes its frames itself. The peer receives no frames before [read]. */
internal class Bare(
    options: EndpointOptions = EndpointOptions(),
    frameBytesMax: Long = 1L shl 20,
    limits: TransportLimits = TransportLimits(1 shl 20, 1000),
    change: (ChannelTransport) -> ChannelTransport = { it },
) : AutoCloseable {
    val there: ChannelTransport
    val end: Endpoint
    val log = Log()

    init {
        val (here, other) = MemoryTransport.pair(limits)
        there = other
        there.send(writeHello(Hello(WIRE_VERSION, 1, frameBytesMax, 255, 4096)))
        end = Endpoint.connect(change(here), options).get(60, TimeUnit.SECONDS)
    }

    fun read(): Unit = there.open(log)

    fun call(id: Int, channel: String = "m", timeoutMs: Long = 0, body: ByteArray = ByteArray(0)) {
        there.send(writeFrame(Head(Op.CALL, id = id, b = timeoutMs), name = channel.toByteArray(), body = body))
    }

    /** Asks for the events of `channel`, with credit for one event of at most 1000 bytes if nothing else is given. */
    fun listen(
        id: Int,
        channel: String = "e",
        items: Long = 1,
        bytes: Long = 1000,
        capacity: Int = 1,
        args: Any? = null,
    ) {
        val body = Codecs.STANDARD_METHODS.encodeCall(MethodCall("listen", args))
        val head = Head(Op.LISTEN, id = id, a = items, b = bytes, c = capacity)
        there.send(writeFrame(head, channel.toByteArray(), body))
    }

    fun stop(id: Int) {
        there.send(writeFrame(Head(Op.STOP, id = id)))
    }

    fun cancel(id: Int) {
        there.send(writeFrame(Head(Op.CANCEL, id = id, a = Status.CANCELLED.toLong())))
    }

    /** Waits for `count` frames of this kind, and returns their statuses. */
    fun statuses(count: Int, op: Int = Op.REPLY): List<Int> = frames(op, count).map { it.a.toInt() }

    /** Waits until the peer has received `count` frames of this kind, and returns them. */
    fun frames(op: Int, count: Int): List<Frame> {
        fun found() = log.frames.map { readFrame(it)!! }.filter { it.op == op }
        log.until { found().size >= count }
        return found()
    }

    override fun close() {
        end.terminate()
        there.close(CloseReason.CLOSED)
    }
}

/** Connects two endpoints, runs `act` with them, and ends them. */
internal fun endpoints(
    a: EndpointOptions = EndpointOptions(),
    b: EndpointOptions = EndpointOptions(),
    transports: Pair<ChannelTransport, ChannelTransport> = MemoryTransport.pair(),
    act: (Endpoint, Endpoint) -> Unit,
) {
    val connecting = listOf(Endpoint.connect(transports.first, a), Endpoint.connect(transports.second, b))
    val ends = connecting.map { it.get(60, TimeUnit.SECONDS) }
    try {
        act(ends[0], ends[1])
    } finally {
        for (end in ends) end.terminate()
    }
}

/** Waits until the condition holds. The time limit of the test interrupts the wait. */
internal fun until(met: () -> Boolean) {
    while (!met()) if (Thread.interrupted()) throw InterruptedException() else Thread.onSpinWait()
}

/** Returns a frame whose attachments are inside, as TypeScript writes them. Their bytes are zeros. */
internal fun frameWithAttachments(
    head: Head,
    name: String,
    sizes: List<Int>,
    body: ByteArray = ByteArray(0),
): ByteArray {
    fun padded(bytes: Int) = (bytes + 7) and -8
    val frame =
        writeFrame(Head(head.op, head.flags or Flag.INSIDE, head.id, head.a, head.b, head.c), name.toByteArray(), body)
    val table = padded(sizes.size * 4)
    val bytes = ByteBuffer.allocate(padded(frame.size) + table + sizes.sumOf(::padded)).order(ByteOrder.LITTLE_ENDIAN)
    bytes.put(frame).putShort(20, sizes.size.toShort())
    for ((at, size) in sizes.withIndex()) bytes.putInt(padded(frame.size) + at * 4, size)
    return bytes.array()
}

/** A transport without `pause`, as an application's own transport may be. */
internal class WithoutPause(private val under: ChannelTransport) : ChannelTransport {
    override val name: String
        get() = "bare"

    override val frameBytesMax: Int
        get() = under.frameBytesMax

    override fun open(sink: clearway.channel.transport.ChannelSink): Unit = under.open(sink)

    override fun send(frame: ByteArray): Boolean = under.send(frame)

    override fun close(reason: CloseReason): Unit = under.close(reason)
}

/** A clock that advances only when a test calls [pass]. */
internal class FakeClock : Clock {
    private class Due(val atMs: Long, val act: () -> Unit)

    private var nowMs = 0L
    private val due = ArrayList<Due>()

    @Synchronized override fun nowMs(): Long = nowMs

    @Synchronized
    override fun after(ms: Long, act: () -> Unit): Timer {
        // A sum with a very large `ms` would overflow. Such a timer never runs in a test.
        val one = Due(if (ms > Long.MAX_VALUE / 2) ms else nowMs + ms, act)
        due += one
        return Timer { synchronized(this) { due -= one } }
    }

    fun pass(ms: Long) {
        val now =
            synchronized(this) {
                nowMs += ms
                val over = due.filter { it.atMs <= nowMs }
                due -= over.toSet()
                over
            }
        for (each in now) each.act()
    }
}

/**
 * Calls `make` on a thread of an application that brings all that a thread can inherit. Checks that the thread that it
 * makes has none of that, and has the class loader of `library`. Returns the thread, which has run.
 */
fun inheritsNothing(library: Class<*>, make: (Runnable) -> Thread): Thread {
    val inherited = InheritableThreadLocal<String>()
    val value = CompletableFuture<String?>()
    val made = CompletableFuture<Thread>()
    val app =
        Thread(ThreadGroup("app")) {
            inherited.set("app")
            made.complete(make(Runnable { value.complete(inherited.get()) }))
        }
    app.contextClassLoader = URLClassLoader(emptyArray(), library.classLoader)
    app.priority = Thread.MIN_PRIORITY
    app.start()
    val thread = made.join()
    assertTrue(thread.isDaemon)
    assertEquals(library.classLoader, thread.contextClassLoader)
    assertEquals(Thread.NORM_PRIORITY, thread.priority)
    assertNotSame(app.threadGroup, thread.threadGroup)
    thread.start()
    assertEquals(null, value.join())
    return thread
}
