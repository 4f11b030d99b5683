// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.plugin

import clearway.plugin.abi.Abi
import clearway.plugin.host.Port
import clearway.plugin.host.Window
import java.time.Duration
import java.util.ArrayDeque
import java.util.concurrent.locks.ReentrantLock
import kotlin.concurrent.withLock

/** What is dropped when events come faster than they are read. */
public enum class WhenFull {
    /** Nothing: the source waits. */
    WAIT,
    /** The stream. */
    FAIL,
    /** The oldest unread event. */
    DROP_OLDEST,
    /** The newest. */
    DROP_NEWEST,
}

/** How a channel's events are listened to. */
public class ListenOptions private constructor(internal var items: Int, internal var whenFull: WhenFull) {
    internal var arguments: Payload? = null
    internal var bytes = 64L shl 20

    public constructor() : this(64, WhenFull.WAIT)

    internal constructor(queue: ListenOptions) : this(queue.items, queue.whenFull)

    /** The arguments of the source. Default: the null message. */
    public fun arguments(payload: Payload?): ListenOptions = apply { arguments = payload }

    /** The arguments of the source. */
    public fun arguments(bytes: ByteArray): ListenOptions = arguments(Payload.of(bytes))

    /**
     * How many events may wait on the native side, and as many again on Java's: 1 to 65536. Default 64. For a firehose
     * of small events 1024: what a batch costs is shared by more of them.
     */
    public fun items(count: Int): ListenOptions = apply {
        if (count !in 1..65_536) throw invalid("items", "1 to 65536", count)
        items = count
    }

    /**
     * How many bytes may wait on the native side. One event that is larger may. Default 64 MiB: eight frames of 1080p.
     */
    public fun bytes(count: Long): ListenOptions = apply {
        if (count < 1) throw invalid("bytes", "at least 1", count)
        bytes = count
    }

    /** Default [WhenFull.WAIT]. */
    public fun whenFull(policy: WhenFull): ListenOptions = apply { whenFull = policy }

    /** Only the newest event: what waits is dropped for what comes. For frames and sensors. */
    public fun latest(): ListenOptions = items(1).whenFull(WhenFull.DROP_OLDEST)
}

/**
 * Events of a plugin, in order. The taker owns each event: close messages that have native memory. [close] cancels the
 * source. From any thread; of several that take, each event reaches one.
 */
public class PluginEvents internal constructor(private val port: Port, options: ListenOptions) :
    Iterable<Message>, AutoCloseable {
    internal val channel: String = port.name
    internal var tag: Long = 0
    private val lock = ReentrantLock()
    private val changed = lock.newCondition()
    private val queue = ArrayDeque<Message>()
    // Credit goes back in halves of the window: the source is asked seldom, and never has to stop for want of it.
    private val batch = maxOf(1, options.items shr 1)
    private var consumed = 0L
    private var waiting = 0
    private var over = false
    private var problem: PluginException? = null
    private var lost = 0L
    private val stream: Long

    init {
        val window = Window(options.items, options.whenFull.ordinal, options.bytes)
        stream = port.opening.listen(port, options.arguments, window, this)
    }

    /** How many events were dropped so far, by the policy that was asked for. */
    public val dropped: Long
        get() = lock.withLock { lost }

    /**
     * The next event; null when the stream has ended. Blocks until there is one; not on the plugin's reading thread.
     * Throws once what the stream failed with, when all that came before it was taken; `InterruptedException`.
     */
    public fun take(): Message? = next(Long.MAX_VALUE)

    /** The same, with a limit of time; null also when that is over, and then [ended] is false. */
    public fun poll(timeout: Duration): Message? = next(timeout.toNanos())

    /** Whether nothing comes any more and all was taken. */
    public val ended: Boolean
        get() = lock.withLock { over && queue.isEmpty() && problem == null }

    private fun next(timeoutNs: Long): Message? {
        var credit = 0L
        lock
            .withLock {
                var left = timeoutNs
                while (queue.isEmpty() && !over && left > 0) {
                    waiting++
                    try {
                        if (left == Long.MAX_VALUE) changed.await() else left = changed.awaitNanos(left)
                    } finally {
                        waiting--
                    }
                }
                val message = queue.poll()
                if (message == null) {
                    problem?.let {
                        problem = null
                        throw it
                    }
                    return null
                }
                consumed++
                if (consumed >= batch) {
                    credit = consumed
                    consumed = 0
                }
                message
            }
            .let { message ->
                if (credit > 0) Abi.streamCredit(port.opening.id, stream, credit) // stale where the stream has ended
                return message
            }
    }

    /**
     * For a loop: `hasNext` blocks until there is an event, or none comes any more. The loop does not close the stream.
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

    /** Cancels the source and releases the events that wait. Does not wait. A second call does nothing. */
    override fun close() {
        port.opening.streams.remove(tag)
        if (finish(null, 0)) Abi.streamCancel(port.opening.id, stream)
        val left =
            lock.withLock {
                problem = null
                queue.toList().also { queue.clear() }
            }
        for (message in left) message.close()
    }

    internal fun arrived(message: Message, dropped: Long) {
        val taken =
            lock.withLock {
                lost += dropped
                if (!over) queue.add(message)
                if (waiting > 0) changed.signal()
                !over
            }
        if (!taken) message.close()
    }

    internal fun ended(problem: PluginException?, dropped: Long) {
        finish(problem, dropped)
    }

    private fun finish(why: PluginException?, dropped: Long): Boolean =
        lock.withLock {
            lost += dropped
            if (over) return false
            over = true
            problem = why
            changed.signalAll()
            true
        }
}
