// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.plugin

import clearway.plugin.abi.Abi
import clearway.plugin.host.NativeChannel
import clearway.plugin.host.Window
import java.time.Duration
import java.util.ArrayDeque
import java.util.concurrent.CompletableFuture
import java.util.concurrent.locks.ReentrantLock
import kotlin.concurrent.withLock

/** The policy for events that arrive while the queue is full. */
public enum class WhenFull {
    /** The source waits. No event is dropped. */
    WAIT,
    /** The stream fails with `overflow`. */
    FAIL,
    /** The oldest event in the queue is dropped. */
    DROP_OLDEST,
    /** The new event is dropped. */
    DROP_NEWEST,
}

/** The options of a listener. Not thread-safe. */
public class ListenOptions private constructor(internal var items: Int, internal var whenFull: WhenFull) {
    internal var arguments: Payload? = null
    internal var bytes = 64L shl 20

    public constructor() : this(64, WhenFull.WAIT)

    internal constructor(queue: ListenOptions) : this(queue.items, queue.whenFull)

    /** Sets the arguments for the source. The default is the null message. */
    public fun arguments(payload: Payload?): ListenOptions = apply { arguments = payload }

    /** Sets the arguments for the source. */
    public fun arguments(bytes: ByteArray): ListenOptions = arguments(Payload.of(bytes))

    /**
     * Sets how many events may wait on the native side: 1 to 65536. The same number may wait on the JVM's side. The
     * default is 64. Use 1024 for a fast source of small events, so that more events share the cost of a batch.
     */
    public fun items(count: Int): ListenOptions = apply {
        if (count !in 1..65_536) throw invalid("items", "1 to 65536", count)
        items = count
    }

    /**
     * Sets how many bytes may wait on the native side. A single event may be larger. The default is 64 MiB, which is
     * eight RGBA frames of 1080p.
     */
    public fun bytes(count: Long): ListenOptions = apply {
        if (count < 1) throw invalid("bytes", "at least 1", count)
        bytes = count
    }

    /** Sets the policy for a full queue. The default is [WhenFull.WAIT]. */
    public fun whenFull(policy: WhenFull): ListenOptions = apply { whenFull = policy }

    /**
     * Keeps only the newest event: a new event replaces the waiting one. Use this option for video frames and sensors.
     */
    public fun latest(): ListenOptions = items(1).whenFull(WhenFull.DROP_OLDEST)
}

/**
 * A plugin's stream of events, in order. The reader owns each event that it reads, and must close messages that have
 * native memory. [close] cancels the source. Thread-safe: if several threads read, each event reaches one of them.
 */
public class PluginEvents internal constructor(private val nativeChannel: NativeChannel, options: ListenOptions) :
    Iterable<Message>, AutoCloseable {
    internal val channel: String = nativeChannel.name
    internal var tag: Long = 0
    private val lock = ReentrantLock()
    private val changed = lock.newCondition()
    private val queue = ArrayDeque<Message>()
    /** The reads that wait for an event. If there is one, [queue] is empty. */
    private var asking = ArrayDeque<CompletableFuture<Message?>>()
    /** The number of reads in [asking] at which the cancelled ones among them are removed. */
    private var askingMax = ASKING_MIN
    // The number of events after which credit is granted again: half of the window. The source gets few grants, and a
    // fast reader never lets it run out of credit.
    private val batch = maxOf(1, options.items shr 1)
    private var consumed = 0L
    private var waiting = 0
    private var over = false
    private var problem: PluginException? = null
    private var lost = 0L
    private val stream: Long

    init {
        val window = Window(options.items, options.whenFull.ordinal, options.bytes)
        stream = nativeChannel.instance.listen(nativeChannel, options.arguments, window, this)
        // An event may have failed the stream before this thread knew the stream's handle.
        if (lock.withLock { over }) cancel()
    }

    /** The number of events that were dropped so far. */
    public val dropped: Long
        get() = lock.withLock { lost }

    /**
     * Returns the next event, or null when the stream has ended. Blocks until an event arrives or the stream ends. Do
     * not call it on the plugin's reading thread. If the stream failed, throws its error once, after all earlier events
     * were read. Throws `InterruptedException`.
     */
    public fun take(): Message? = next(Long.MAX_VALUE)

    /** Returns the next event as [take] does, but also returns null after `timeout`. [ended] is false in that case. */
    public fun poll(timeout: Duration): Message? = next(timeout.coerceIn(Duration.ZERO, LONGEST).toNanos())

    /** Whether the stream has ended, and all its events and its error were read. */
    public val ended: Boolean
        get() = lock.withLock { over && queue.isEmpty() && problem == null }

    /**
     * Reads the next event as [take] does, without blocking. The future's value is null at the end of the stream. A
     * read that was cancelled before its event arrived takes no event.
     *
     * The plugin's reading thread completes the future. Code chained to the future must not block that thread; use the
     * `…Async` forms.
     */
    public fun read(): CompletableFuture<Message?> {
        val next = CompletableFuture<Message?>()
        try {
            var credit = 0L
            val message =
                lock.withLock {
                    if (queue.isEmpty() && !over) {
                        makeRoom()
                        asking.add(next)
                        return next
                    }
                    poll().also { if (it != null) credit = counted() }
                }
            grant(credit)
            next.complete(message)
        } catch (failed: PluginException) {
            next.completeExceptionally(failed)
        }
        return next
    }

    private fun next(timeoutNs: Long): Message? {
        var credit = 0L
        val message =
            lock.withLock {
                var left = timeoutNs
                while (queue.isEmpty() && !over && left > 0) {
                    waiting++
                    try {
                        if (left == Long.MAX_VALUE) changed.await() else left = changed.awaitNanos(left)
                    } finally {
                        waiting--
                    }
                }
                poll().also { if (it != null) credit = counted() }
            }
        grant(credit)
        return message
    }

    /** Removes the first event. Without one, throws the stream's error once, or returns null. Called under the lock. */
    private fun poll(): Message? {
        queue.poll()?.let {
            return it
        }
        val why = problem ?: return null
        problem = null
        throw why
    }

    /** Counts an event that a reader takes. Returns the credit to grant now. Called under the lock. */
    private fun counted(): Long {
        consumed++
        if (consumed < batch) return 0
        return consumed.also { consumed = 0 }
    }

    private fun grant(credit: Long) {
        // The function returns `stale` if the stream has ended, which is no error here.
        if (credit > 0) Abi.streamCredit(nativeChannel.instance.id, stream, credit)
    }

    // Called under the lock.
    private fun forgetCancelled() {
        while (asking.peek()?.isDone == true) asking.remove()
    }

    /**
     * Removes the cancelled reads when there are twice as many reads as waited after the last removal. So the memory
     * depends on the largest number of reads that waited at once, and not on the number of cancelled ones. Called under
     * the lock.
     */
    private fun makeRoom() {
        if (asking.size < askingMax) return
        asking = ArrayDeque(asking.filterNot { it.isDone })
        askingMax = maxOf(ASKING_MIN, 2 * asking.size)
    }

    /**
     * Returns an iterator. `hasNext` blocks until an event arrives or the stream ends. Leaving a loop early does not
     * close the stream.
     */
    override fun iterator(): Iterator<Message> =
        object : Iterator<Message> {
            private var ahead: Message? = null

            override fun hasNext(): Boolean {
                if (ahead == null) ahead = take()
                return ahead != null
            }

            override fun next(): Message {
                if (!hasNext()) throw NoSuchElementException()
                return checkNotNull(ahead).also { ahead = null }
            }
        }

    /** Cancels the source and releases the events that wait. Does not block. A second call does nothing. */
    override fun close() {
        stop(null, 0)
        val left =
            lock.withLock {
                problem = null
                queue.toList().also { queue.clear() }
            }
        for (message in left) message.close()
    }

    /** Gives an event to the first reader that waits, or keeps it. Only the plugin's reading thread calls this. */
    internal fun arrived(message: Message, dropped: Long) {
        lock.withLock { lost += dropped }
        while (true) {
            val reader =
                lock.withLock {
                    if (over) null
                    else {
                        forgetCancelled()
                        val first = asking.poll()
                        if (first == null) {
                            queue.add(message)
                            if (waiting > 0) changed.signal()
                            return
                        }
                        first
                    }
                } ?: return message.close()
            // A reader may cancel its read at any time before this line. The next one then gets the event.
            if (reader.complete(message)) return grant(lock.withLock { counted() })
        }
    }

    internal fun ended(problem: PluginException?, dropped: Long) {
        finish(problem, dropped)
    }

    /** Cancels the source. The events that wait can still be read, and then the error. */
    internal fun stop(problem: PluginException?, dropped: Long) {
        nativeChannel.instance.streams.remove(tag)
        if (finish(problem, dropped)) cancel()
    }

    private fun cancel() {
        // The function returns `stale` if the stream has ended, which is no error here.
        Abi.streamCancel(nativeChannel.instance.id, stream)
    }

    private fun finish(why: PluginException?, dropped: Long): Boolean {
        val readers =
            lock.withLock {
                lost += dropped
                if (over) return false
                over = true
                problem = why
                changed.signalAll()
                forgetCancelled()
                // One reader gets the error: the first of these, or else a later one.
                if (asking.isNotEmpty()) problem = null
                asking.toList().also { asking.clear() }
            }
        var error = why
        for (reader in readers) {
            if (error == null) reader.complete(null) else if (reader.completeExceptionally(error)) error = null
        }
        // All these reads were cancelled at this moment, so a later one gets the error.
        if (error != null && readers.isNotEmpty()) lock.withLock { problem = error }
        return true
    }

    private companion object {
        const val ASKING_MIN = 2
        /** The longest time in ns that fits into a Long: 292 years. */
        val LONGEST: Duration = Duration.ofNanos(Long.MAX_VALUE)
    }
}
