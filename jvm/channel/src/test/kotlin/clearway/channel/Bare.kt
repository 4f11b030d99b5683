// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.channel

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
import clearway.channel.wire.WIRE_VERSION
import clearway.channel.wire.readFrame
import clearway.channel.wire.writeFrame
import clearway.channel.wire.writeHello
import java.nio.ByteBuffer
import java.nio.ByteOrder
import java.util.concurrent.TimeUnit

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
