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
    private class Kept<T>(val message: Received, val bytes: Long, var dropped: Long) {
        /** Whether a read was to get the event before. The event's credit was counted then. */
        var isGiven = false
        /** The decoded event, if a read was cancelled after the decoding; otherwise null. */
        var event: Event<T>? = null
    }

    private class Ending(val error: Throwable?)

    private val credit = ReceiveCredit(windowItems, windowBytes)
    private val kept = ArrayDeque<Kept<T>>()
    private var asking = ArrayDeque<CompletableFuture<Event<T>>>()
    /** The number of reads in [asking] at which the cancelled ones among them are removed. */
    private var askingMax = ASKING_MIN
    /** How the stream ends after the waiting events were read; null while the stream is open. */
    private var ending: Ending? = null
    private var droppedAtEnd = 0L
    /** The number of events that this end dropped since it last kept an event. */
    private var carried = 0L
    private var over = false
    /** The stream's error, if the reads that were to fail with it were cancelled. The next read fails with it. */
    private var unread: Throwable? = null
    private var isClosed = false
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
            isClosed = true
            unread = null
            if (!over) stop(null)
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
            if (next != null) give(asking.remove(), next) else if (over || ending != null) return finish() else return
        }
    }

    private fun give(to: CompletableFuture<Event<T>>, next: Kept<T>) {
        count(next.dropped)
        next.dropped = 0
        if (!next.isGiven) credit.taken(next.bytes) { items, bytes -> if (ending == null) owner.grant(items, bytes) }
        next.isGiven = true
        lock.defer { deliver(to, next) }
    }

    // A reader may cancel its read at any time before the completion. The next read then gets the event.
    private fun deliver(to: CompletableFuture<Event<T>>, next: Kept<T>) {
        try {
            val event = next.event ?: Event(owner.decode(next.message)).also { next.event = it }
            if (!to.complete(event)) lock.locked { takeBack(next) }
        } catch (thrown: Throwable) {
            val error = withSafeToString(thrown)
            lock.locked {
                asking.addFirst(to)
                stop(error)
            }
        }
    }

    // The event comes before those that wait, because a transport delivers one frame at a time: later events cannot
    // pass it while reads wait.
    private fun takeBack(event: Kept<T>) {
        if (over) return
        kept.addFirst(event)
        waitingBytes += event.message.keptBytes
        settle()
    }

    /** Ends the stream for the reads that wait, and cancels it at the other end if it is still open there. */
    private fun stop(error: Throwable?) {
        val toTell = !over && ending == null
        shut(error)
        if (toTell) owner.cancel()
    }

    // Completes the reads after the last event. The first of them fails with the stream's error, if there is one.
    private fun finish() {
        val error = if (over) unread else ending?.error
        unread = null
        if (!over) count(droppedAtEnd)
        shut(error)
    }

    private fun count(dropped: Long) {
        if (dropped == 0L) return
        droppedSoFar += dropped
        lock.defer { owner.dropped(dropped) }
    }

    // One read gets the error: the first that is not cancelled before it fails. If all are, a later read gets it. The
    // others return the end.
    private fun shut(error: Throwable?) {
        over = true
        dropAll()
        var left = error
        for (each in asking) lock.defer {
            val failure = left
            if (failure == null) each.complete(Event.end()) else if (each.completeExceptionally(failure)) left = null
        }
        asking.clear()
        if (error != null) lock.defer { left?.let { lock.locked { if (!isClosed) unread = it } } }
    }

    private fun take(): Kept<T>? = kept.poll()?.also { waitingBytes -= it.message.keptBytes }

    private fun dropAll() {
        kept.clear()
        waitingBytes = 0
    }

    private companion object {
        const val ASKING_MIN = 2
    }
}
