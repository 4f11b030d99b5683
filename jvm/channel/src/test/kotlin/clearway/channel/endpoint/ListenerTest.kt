// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.channel.endpoint

import clearway.channel.Event
import java.nio.ByteBuffer
import java.util.concurrent.CompletableFuture
import java.util.concurrent.ExecutionException
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertSame
import org.junit.jupiter.api.Assertions.assertThrows
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

/**
 * Tests reads that are cancelled at the last moment: after they were to get an event or the end, and before they do.
 */
class ListenerTest {
    private var onDecode: () -> Unit = {}
    private var onDropped: () -> Unit = {}
    private var decoded = 0
    private var cancelled = 0
    private val lock = EndpointLock { throw it }
    private val owner =
        object : ListenerOwner<Int> {
            override fun decode(message: Received): Int {
                decoded++
                onDecode.also { onDecode = {} }.invoke()
                return message.body.get(0).toInt()
            }

            override fun grant(items: Long, bytes: Long) = Unit

            override fun cancel() {
                cancelled++
            }

            override fun dropped(count: Long) = onDropped()
        }
    private val listener = Listener(lock, owner, 10, 1000)
    private val broken = IllegalStateException("broken")

    private fun arrive(value: Byte) =
        lock.locked { assertTrue(listener.arrived(Received(ByteBuffer.wrap(byteArrayOf(value)), 0), 1, 0)) }

    private fun failure(read: CompletableFuture<Event<Int>>): Throwable? {
        assertTrue(read.isDone)
        return assertThrows(ExecutionException::class.java) { read.get() }.cause
    }

    private fun value(read: CompletableFuture<Event<Int>>): Int? = read.getNow(null)?.value

    private fun assertEnd(read: CompletableFuture<Event<Int>>) = assertTrue(read.getNow(null)?.isEnd == true)

    @Test
    fun `an event whose read is cancelled during the decoding goes to the next read that waits`() {
        val reads = List(3) { listener.read() }
        onDecode = { reads[0].cancel(false) }
        arrive(1)
        arrive(2)
        assertEquals(listOf(1, 2), reads.drop(1).map(::value))
        assertEquals(2, decoded)
    }

    @Test
    fun `an event whose read is cancelled during the decoding is the first that a later read gets`() {
        val read = listener.read()
        onDecode = { read.cancel(false) }
        arrive(1)
        arrive(2)
        assertEquals(2, listener.waiting)
        assertEquals(listOf(1, 2), List(2) { value(listener.read()) })
        assertEquals(listOf(0L, 0L, 2L), listOf(listener.waitingBytes, listener.dropped, decoded.toLong()))
    }

    @Test
    fun `an event whose read is cancelled during the decoding is dropped with the others when the stream is closed`() {
        val read = listener.read()
        onDecode = { read.cancel(false).also { listener.close() } }
        arrive(1)
        assertEquals(listOf(0, 0), listOf(listener.waiting, listener.waitingBytes.toInt()))
        assertEnd(listener.read())
    }

    @Test
    fun `the error of a stream fails the next read that waits if the first is cancelled before it fails`() {
        val reads = List(3) { listener.read() }
        onDropped = { reads[0].cancel(false) }
        lock.locked { listener.ended(1, broken) }
        assertSame(broken, failure(reads[1]))
        assertEnd(reads[2])
        assertEnd(listener.read())
    }

    @Test
    fun `the error of a stream fails a later read if all that wait are cancelled before they fail`() {
        val reads = List(2) { listener.read() }
        onDropped = { reads.forEach { it.cancel(false) } }
        lock.locked { listener.ended(1, broken) }
        assertSame(broken, failure(listener.read()))
        assertEnd(listener.read())
    }

    @Test
    fun `an error that no read got is forgotten when the stream is closed`() {
        val read = listener.read()
        onDropped = { read.cancel(false) }
        lock.locked { listener.ended(1, broken) }
        listener.close()
        assertEnd(listener.read())
    }

    @Test
    fun `an event that cannot be decoded fails the next read if its own is cancelled`() {
        val read = listener.read()
        onDecode = {
            read.cancel(false)
            throw broken
        }
        arrive(1)
        assertEquals(1, cancelled)
        assertSame(broken, failure(listener.read()))
        assertEnd(listener.read())
    }
}
