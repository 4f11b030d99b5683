// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.channel.endpoint

import clearway.channel.CallOptions
import clearway.channel.ChannelError
import clearway.channel.ChannelException
import clearway.channel.EndpointOptions
import clearway.channel.EndpointStats
import clearway.channel.codec.CodecException
import clearway.channel.codec.Codecs
import clearway.channel.codec.NOTHING
import clearway.channel.codec.OverLimit
import clearway.channel.transport.ChannelTransport
import clearway.channel.transport.CloseReason
import clearway.channel.transport.DaemonThreads
import clearway.channel.transport.withSafeToString
import clearway.channel.wire.Flag
import clearway.channel.wire.Frame
import clearway.channel.wire.Head
import clearway.channel.wire.Hello
import clearway.channel.wire.Op
import clearway.channel.wire.Status
import clearway.channel.wire.readFrame
import java.util.concurrent.CompletableFuture
import java.util.concurrent.ScheduledThreadPoolExecutor
import java.util.concurrent.TimeUnit
import java.util.concurrent.atomic.AtomicBoolean
import java.util.concurrent.locks.ReentrantLock

/**
 * Owns the parts of an endpoint and passes each incoming frame to the right part. The channel classes use these parts.
 */
internal class Core(private val transport: ChannelTransport, settings: EndpointOptions, wire: Int, there: Hello?) {
    val lock = EndpointLock { settings.report(it, transport.name) }
    val connection = Connection(transport, settings, lock, wire, there, ::ended)
    private val outbox = Outbox(connection)
    /** The answers, and the ends of streams, that wait until the transport has room. */
    private val replies: Replies =
        Replies(
            connection,
            object : RepliesOwner {
                override fun mayPause() = !calls.awaitsReplies

                override fun room() = router.release()

                override fun end(reason: CloseReason) = terminate(reason)
            },
        )
    val calls: Calls = Calls(connection, outbox) { replies.updatePause() }
    val listens = Subscriptions(connection, outbox)
    val plainSubscriptions = PlainSubscriptions(connection, calls)
    val router: RequestRouter = RequestRouter(connection, replies)
    private val publishers = Publishers(connection, replies)
    /** The event streams that this end serves on the plain wire. */
    val plainSources = LinkedHashSet<Source>()
    /**
     * The event streams on the plain wire whose source still runs. A stream may have no listener any more. It counts
     * against `callsMax` until its source has ended.
     */
    val plainRunning = HashSet<Source>()
    val closed = SharedReason(settings.clock)
    /** The posts that wait to be sent. They fail when the connection ends. */
    private val posts = LinkedHashSet<QueuedRequest>()
    /** Called under the lock when no post waits any more. */
    private var onPosted: () -> Unit = {}
    private val closing = AtomicBoolean()
    /** Who came first when there was room for the last time. */
    private var turn = 0

    /**
     * Sends a call with the message that `encode` returns. The future completes with the value that `read` returns for
     * the answer. If the future ends before, for example by a cancel or `orTimeout`, the call is cancelled. Throws the
     * exceptions of `encode`, except [OverLimit], with which the future fails.
     */
    fun <T> call(
        channel: String,
        options: CallOptions,
        encode: () -> ByteArray,
        read: (Received) -> T,
    ): CompletableFuture<T> {
        val future = CompletableFuture<T>()
        val message = encoded(future, encode) ?: return future
        var settled = false
        val call =
            lock.locked {
                calls.call(channel, message, options) { answer, failure ->
                    settled = true
                    try {
                        if (answer != null) future.complete(read(answer)) else future.completeExceptionally(failure)
                    } catch (thrown: Throwable) {
                        future.completeExceptionally(withSafeToString(thrown))
                    }
                }
            }
        if (call != null)
            future.whenComplete { _, _ ->
                if (!settled) calls.giveUp(call, Status.CANCELLED, ChannelException(ChannelError.CANCELLED, "given up"))
            }
        return future
    }

    /** Returns the message that `encode` returns. Returns null, and fails the future, if it is larger than a frame. */
    private fun encoded(future: CompletableFuture<*>, encode: () -> ByteArray): ByteArray? =
        try {
            encode()
        } catch (over: OverLimit) {
            future.completeExceptionally(connection.tooLarge(over))
            null
        }

    /** Sends a message that has no answer, as [call] does. The future completes when the transport has accepted it. */
    fun post(channel: String, encode: () -> ByteArray): CompletableFuture<Void?> {
        val future = CompletableFuture<Void?>()
        val message = encoded(future, encode) ?: return future
        val post =
            object : QueuedRequest {
                override fun send() {
                    val op = if (connection.isPlain) Op.MESSAGE else Op.POST
                    connection.send(Head(op), name = connection.name(channel), body = message)
                    settled(this)
                    lock.defer { future.complete(null) }
                }

                override fun refuse(reason: Throwable) {
                    settled(this)
                    lock.defer { future.completeExceptionally(reason) }
                }
            }
        lock.locked {
            val callsMax = connection.settings.callsMax
            if (connection.over) post.refuse(connection.closedError("post to $channel"))
            else if (posts.size >= callsMax)
                post.refuse(ChannelException(ChannelError.QUEUE_FULL, "too many waiting posts: callsMax=$callsMax"))
            else {
                posts.add(post)
                outbox.push(post)
            }
        }
        return future
    }

    private fun settled(post: QueuedRequest) {
        posts.remove(post)
        if (posts.isEmpty()) {
            val act = onPosted
            onPosted = {}
            act()
        }
    }

    fun frame(bytes: ByteArray): Unit =
        lock.locked {
            val frame = readFrame(bytes)
            // The transport may still deliver frames after the connection has ended.
            if (connection.reason != null) return@locked
            if (frame == null) connection.broken("received ${bytes.size} bytes that are not a frame")
            else {
                val flags = frame.flags and (Flag.WHOLE or Flag.EMPTY)
                val nameBytes = frame.name.remaining()
                val message = Received(frame.body, flags, frame.attachments, frame.attachedBytes, nameBytes)
                if (connection.isPlain) plain(frame, message) else ours(frame, message)
            }
        }

    fun drained(): Unit =
        lock.locked {
            connection.congested = false
            listens.drain()
            // Each comes first in turn, because what waits in one of them may take all the room every time.
            turn = (turn + 1) % 3
            for (next in turn until turn + 3) when (next % 3) {
                0 -> router.drain()
                1 -> {
                    publishers.drain()
                    for (source in plainSources.toList()) source.drain()
                }
                else -> outbox.drain()
            }
        }

    fun ended(reason: CloseReason): Unit =
        lock.locked {
            if (connection.reason == null) {
                connection.reason = reason
                outbox.clear()
                for (post in posts.toList()) post.refuse(connection.closedError("post"))
                calls.closed()
                listens.closed()
                plainSubscriptions.closed()
                publishers.closed(null)
                for (source in plainSources.toList()) source.cancel()
                router.closed()
                lock.defer { closed.end(reason) }
            }
        }

    /**
     * Closes the endpoint after its calls are answered. Ends the streams that this end serves, waits until the posts
     * are sent and the calls in both directions are answered, then closes the transport. Closes the transport after
     * `timeoutMs` milliseconds in any case.
     */
    fun close(timeoutMs: Long) {
        if (!closing.compareAndSet(false, true)) return
        lock.locked {
            connection.closing = true
            publishers.closed(Status.CANCELLED)
            for (source in plainSources.toList()) source.closing()
            router.refuseEarly()
            val late = connection.settings.clock.after(timeoutMs) { terminate(CloseReason.CLOSED) }
            closed.whenComplete { _, _ -> late.stop() }
            val posted = { calls.whenIdle { lock.locked { router.finish { terminate(CloseReason.CLOSED) } } } }
            if (posts.isEmpty()) posted() else onPosted = posted
        }
    }

    fun terminate(reason: CloseReason) {
        connection.close(reason)
        ended(reason)
    }

    fun stats(): EndpointStats =
        lock.locked {
            EndpointStats(
                transport.name,
                calls.size,
                router.size,
                replies.bytes + connection.queued.bytes,
                listens.size + plainSubscriptions.size,
                publishers.size + plainSources.size,
            )
        }

    private fun ours(frame: Frame, message: Received) {
        when (frame.op) {
            Op.CALL,
            Op.POST -> request(frame, message, frame.op == Op.CALL)
            Op.REPLY -> calls.reply(frame, message)
            Op.CANCEL -> router.cancel(frame.id, frame.a)
            Op.STOP -> publishers.cancel(frame.id)?.let(router::withdraw)
            Op.LISTEN -> {
                val channel = channel(frame) ?: return
                publishers.request(frame, channel, message)?.let(router::listen)
            }
            Op.EVENT -> listens.event(frame, message)
            Op.END -> listens.end(frame)
            Op.CREDIT -> publishers.credit(frame)
            else -> connection.broken("a frame of kind ${frame.op}")
        }
    }

    private fun plain(frame: Frame, message: Received) {
        if (frame.op == Op.ANSWER) return calls.reply(frame, message)
        if (frame.op != Op.MESSAGE) return connection.broken("a frame of kind ${frame.op} on the plain wire")
        val channel = channel(frame) ?: return
        if (!plainSubscriptions.message(channel, message)) request(frame, message, frame.id != 0, channel)
        // An event needs no answer. An answer is sent only if the other end asked for one.
        else if (frame.id != 0) replies.send(Head(Op.ANSWER, id = frame.id), NOTHING) {}
    }

    private fun request(frame: Frame, message: Received, wanted: Boolean, name: String? = channel(frame)) {
        val channel = name ?: return
        // Only a call has limits of time. In other frames, a reader ignores these fields.
        val isCall = frame.op == Op.CALL
        val deadlineMs = if (isCall) frame.a else 0
        val timeoutMs = if (isCall) frame.b else 0
        router.request(Served(connection, frame.id, channel, message, wanted, deadlineMs, timeoutMs, router))
    }

    private fun channel(frame: Frame): String? {
        val size = frame.name.remaining()
        if (size <= connection.settings.nameBytesMax) {
            try {
                return Codecs.STRING.decodeOwned(frame.name)
            } catch (_: CodecException) {
                // The name is not UTF-8. The code below closes the connection.
            }
        }
        connection.broken("a channel's name of $size bytes that cannot be read")
        return null
    }
}

/**
 * Guards an endpoint's state. Calls of application code (futures, handlers, listeners) are deferred until the lock is
 * released. Application code therefore never runs under the lock and never sees state in the middle of a change.
 */
internal class EndpointLock(
    /** Receives the exceptions of deferred actions. Must not throw. */
    private val onError: (Throwable) -> Unit
) {
    private val lock = ReentrantLock()
    private var deferred = ArrayList<() -> Unit>()

    /**
     * Runs `act` under the lock, which is reentrant. The outermost call releases the lock, then runs the deferred
     * actions.
     */
    fun <T> locked(act: () -> T): T {
        var mine: List<() -> Unit> = emptyList()
        lock.lock()
        try {
            return act()
        } finally {
            if (lock.holdCount == 1 && deferred.isNotEmpty()) {
                mine = deferred
                deferred = ArrayList()
            }
            lock.unlock()
            for (each in mine) run(each)
        }
    }

    // An exception of application code must not end the thread that reads for the whole endpoint.
    private fun run(act: () -> Unit) {
        try {
            act()
        } catch (thrown: Throwable) {
            onError(thrown)
        }
    }

    /** Runs `act` after this thread has released the lock. The caller must hold the lock. */
    fun defer(act: () -> Unit) {
        check(lock.isHeldByCurrentThread) { "the lock is not held" }
        deferred.add(act)
    }
}

/** Supplies an endpoint's time and timers. Tests use their own implementation. No method blocks. */
internal interface Clock {
    /** Returns the current time in milliseconds, counted from an arbitrary zero point. */
    fun nowMs(): Long

    /** Runs `act` once, after `ms` milliseconds. Returns a timer that can cancel the run. */
    fun after(ms: Long, act: () -> Unit): Timer
}

internal fun interface Timer {
    fun stop()
}

/** Runs the timers of all endpoints on one daemon thread. The timers' actions must be short. */
internal object SystemClock : Clock {
    private val timers =
        ScheduledThreadPoolExecutor(1, DaemonThreads("clearway-channel-timer-")).apply {
            // Without this policy, the queue would keep the timer of an answered call until the call's deadline.
            removeOnCancelPolicy = true
        }

    override fun nowMs(): Long = System.nanoTime() / 1_000_000

    override fun after(ms: Long, act: () -> Unit): Timer {
        val timer = timers.schedule(act, ms, TimeUnit.MILLISECONDS)
        return Timer { timer.cancel(false) }
    }
}
