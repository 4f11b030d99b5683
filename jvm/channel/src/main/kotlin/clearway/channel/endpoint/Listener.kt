// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.channel.endpoint

import clearway.channel.ChannelError
import clearway.channel.ChannelException
import clearway.channel.Event
import clearway.channel.EventStream
import clearway.channel.transport.withSafeToString
import java.util.ArrayDeque
import java.util.concurrent.CompletableFuture
import java.util.concurrent.ExecutionException

/** The subscription that a [Listener] belongs to. */
internal interface ListenerOwner<T> {
    /** Decodes an event. An exception ends the stream. Called without the lock. */
    fun decode(message: Received): T

    /** Grants credit to the other end, and calls [Listener.granted] when it is sent. Called under the lock. */
    fun grant(items: Long, bytes: Long)

    /** Cancels the stream at the other end. Called under the lock. */
    fun cancel()

    /** Receives the number of events that were dropped before the next one. Called without the lock. */
    fun dropped(count: Long)
}

/**
 * A stream of events, at the end that reads it. The credit that the listener grants limits the number of waiting
 * events. Every read completes. The endpoint's lock guards this object.
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
    private var asking = ArrayDeque<CompletableFuture<Event<T>>>()
    /** The number of reads in [asking] at which the cancelled ones among them are removed. */
    private var askingMax = ASKING_MIN
    /** How the stream ends after the waiting events were read; null while the stream is open. */
    private var ending: Ending? = null
    private var droppedAtEnd = 0L
    /** The number of events that this end dropped since it last kept an event. */
    private var carried = 0L
    private var over = false
    private var droppedSoFar = 0L

    override val dropped: Long
        get() = lock.locked { droppedSoFar }

    /** The number of events that wait to be read. */
    val waiting: Int
        get() = kept.size

    /** The number of bytes that are charged for the events that wait to be read. */
    var waitingBytes = 0L
        private set

    /** Keeps an event that arrived. Returns false if the other end had no credit for it. */
    fun arrived(message: Received, bytes: Long, dropped: Long): Boolean {
        if (ending != null || over) return true
        val allowed = credit.arrived(bytes)
        kept.add(Kept(message, bytes, dropped + carried))
        waitingBytes += message.keptBytes
        carried = 0
        settle()
        return allowed
    }

    /** Counts credit that is sent to the other end now, which may use it from then on. */
    fun granted(items: Long, bytes: Long): Unit = credit.sent(items, bytes)

    /** Drops the oldest waiting event and adds it to the next event's count of dropped events. */
    fun dropOldest() {
        val first = take() ?: return
        val second = kept.peek()
        if (second != null) second.dropped += first.dropped + 1 else carried += first.dropped + 1
    }

    /** Ends the stream, with or without an error. Reads return the waiting events first. */
    fun ended(dropped: Long, error: Throwable?) {
        if (ending != null || over) return
        droppedAtEnd = dropped + carried
        ending = Ending(error)
        settle()
    }

    /** Ends the stream with an error at once. Drops the waiting events. */
    fun fail(error: Throwable) {
        if (over) return
        dropAll()
        ending = Ending(error)
        settle()
    }

    override fun read(): CompletableFuture<Event<T>> {
        val next = CompletableFuture<Event<T>>()
        lock.locked {
            makeRoom()
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

            override fun hasNext(): Boolean = !(next ?: readNow().also { next = it }).isEnd

            override fun next(): T {
                if (!hasNext()) throw NoSuchElementException("the stream has ended")
                val event = next
                next = null
                // An event that is not the end holds a value of type T, which may be null if T is nullable.
                @Suppress("UNCHECKED_CAST")
                return event?.value as T
            }
        }

    private fun readNow(): Event<T> {
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

    // A reader that gave up takes no event.
    private fun forgetCancelled() {
        while (asking.peek()?.isDone == true) asking.remove()
    }

    /**
     * Removes the cancelled reads when there are twice as many reads as waited after the last removal. So the memory
     * depends on the largest number of reads that waited at once, and not on the number of cancelled ones.
     */
    private fun makeRoom() {
        if (asking.size < askingMax) return
        asking = ArrayDeque(asking.filterNot { it.isDone })
        askingMax = maxOf(ASKING_MIN, 2 * asking.size)
    }

    private fun settle() {
        while (true) {
            forgetCancelled()
            if (asking.isEmpty()) return
            val next = if (over) null else take()
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
                to.completeExceptionally(withSafeToString(thrown))
            }
        }
    }

    // Completes a read after the last event. The first such read fails with the stream's error, if there is one. Later
    // reads return the end.
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
        dropAll()
        for (each in asking) lock.defer { each.complete(Event.end()) }
        asking.clear()
    }

    private fun take(): Kept? = kept.poll()?.also { waitingBytes -= it.message.keptBytes }

    private fun dropAll() {
        kept.clear()
        waitingBytes = 0
    }

    private companion object {
        const val ASKING_MIN = 2
    }
}
