// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.channel.endpoint

import clearway.channel.ChannelError
import clearway.channel.ChannelException
import clearway.channel.Event
import clearway.channel.EventStream
import clearway.channel.transport.speaking
import java.util.ArrayDeque
import java.util.concurrent.CompletableFuture
import java.util.concurrent.ExecutionException

/** The owner of a stream. */
internal interface ListenerOwner<T> {
    /** Reads an event's message. What it throws ends the stream. Outside the lock. */
    fun decode(message: Received): T

    /** Lets the other end send more. Under the lock. */
    fun grant(items: Long, bytes: Long)

    /** This end does not want any more. Under the lock. */
    fun cancel()

    /** Called with the number of events dropped before the next one. Outside the lock. */
    fun dropped(count: Long)
}

/**
 * The listener's end of a stream: bounded by the credit that it gives. Settles every read. Its endpoint's lock guards
 * it.
 */
internal class Listener<T>(
    private val lock: EndpointLock,
    private val owner: ListenerOwner<T>,
    windowItems: Long,
    windowBytes: Long,
) : EventStream<T> {
    private class Kept(val message: Received, val bytes: Long, var dropped: Long)

    private class Ending(val error: Throwable?)

    private val credit = ReceiveCredit(windowItems, windowBytes)
    private val kept = ArrayDeque<Kept>()
    private val asking = ArrayDeque<CompletableFuture<Event<T>>>()
    /** How it ends when all was read. */
    private var ending: Ending? = null
    private var droppedAtEnd = 0L
    /** Dropped here since the event that was kept last. */
    private var carried = 0L
    private var over = false
    private var droppedSoFar = 0L

    override val dropped: Long
        get() = lock.locked { droppedSoFar }

    /** How many events wait to be read. */
    val waiting: Int
        get() = kept.size

    /** An event came. False when the other end had no credit for it. */
    fun arrived(message: Received, bytes: Long, dropped: Long): Boolean {
        if (ending != null || over) return true
        val allowed = credit.arrived(bytes)
        kept.add(Kept(message, bytes, dropped + carried))
        carried = 0
        settle()
        return allowed
    }

    /** Drops the oldest event that waits, and counts it. */
    fun dropOldest() {
        val first = kept.poll() ?: return
        val second = kept.peek()
        if (second != null) second.dropped += first.dropped + 1 else carried += first.dropped + 1
    }

    /** The stream ended, after what came; with an error, or without. */
    fun ended(dropped: Long, error: Throwable?) {
        if (ending != null || over) return
        droppedAtEnd = dropped + carried
        ending = Ending(error)
        settle()
    }

    /** Ends at once, and forgets what was not read. */
    fun fail(error: Throwable) {
        if (over) return
        kept.clear()
        ending = Ending(error)
        settle()
    }

    override fun read(): CompletableFuture<Event<T>> {
        val next = CompletableFuture<Event<T>>()
        lock.locked {
            asking.add(next)
            settle()
        }
        return next
    }

    override fun close(): Unit =
        lock.locked {
            if (!over) {
                val toTell = ending == null
                shut()
                if (toTell) owner.cancel()
            }
        }

    override fun iterator(): Iterator<T> =
        object : Iterator<T> {
            private var next: Event<T>? = null

            override fun hasNext(): Boolean = !(next ?: take().also { next = it }).isEnd

            override fun next(): T {
                if (!hasNext()) throw NoSuchElementException("the stream has ended")
                val event = next
                next = null
                @Suppress("UNCHECKED_CAST") // An event has a value, which may be null where T may.
                return event?.value as T
            }
        }

    private fun take(): Event<T> {
        try {
            return read().get()
        } catch (failed: ExecutionException) {
            throw failed.cause ?: failed
        } catch (interrupted: InterruptedException) {
            close()
            Thread.currentThread().interrupt()
            throw ChannelException(ChannelError.CANCELLED, "interrupted while waiting for an event", null, interrupted)
        }
    }

    private fun settle() {
        while (asking.isNotEmpty()) {
            val next = if (over) null else kept.poll()
            if (next != null) give(asking.remove(), next)
            else if (over || ending != null) finish(asking.remove()) else return
        }
    }

    private fun give(to: CompletableFuture<Event<T>>, next: Kept) {
        count(next.dropped)
        credit.taken(next.bytes) { items, bytes -> if (ending == null) owner.grant(items, bytes) }
        lock.defer {
            try {
                to.complete(Event(owner.decode(next.message)))
            } catch (thrown: Throwable) {
                close()
                to.completeExceptionally(speaking(thrown))
            }
        }
    }

    // The first read gets the error; later reads get the end.
    private fun finish(to: CompletableFuture<Event<T>>) {
        val error = if (over) null else ending?.error
        if (!over) {
            count(droppedAtEnd)
            shut()
        }
        lock.defer { if (error != null) to.completeExceptionally(error) else to.complete(Event.end()) }
    }

    private fun count(dropped: Long) {
        if (dropped == 0L) return
        droppedSoFar += dropped
        lock.defer { owner.dropped(dropped) }
    }

    private fun shut() {
        over = true
        kept.clear()
        for (each in asking) lock.defer { each.complete(Event.end()) }
        asking.clear()
    }
}
