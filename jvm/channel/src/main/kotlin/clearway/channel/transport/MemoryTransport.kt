// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.channel.transport

import java.util.ArrayDeque
import java.util.concurrent.Executor

/**
 * Connects two ends in one process. Use it in tests, and for parts of an app that may later run in separate processes.
 * Copies nothing: the other end receives the same array. Daemon threads call each end's sink, one call at a time.
 */
public object MemoryTransport {
    /** Returns two connected ends. */
    @JvmStatic
    @JvmOverloads
    public fun pair(limits: TransportLimits = TransportLimits()): Pair<ChannelTransport, ChannelTransport> {
        val lock = Any()
        val a = MemoryEnd(lock, limits, SharedThreads)
        val b = MemoryEnd(lock, limits, SharedThreads)
        a.other = b
        b.other = a
        return Pair(a, b)
    }
}

/** One end of a pair. One lock guards the state of both ends. Sinks are called without the lock. */
private class MemoryEnd(private val lock: Any, private val limits: TransportLimits, executor: Executor) :
    ChannelTransport {
    lateinit var other: MemoryEnd
    private val deliveries = SerialTasks(executor)
    private val inbox = ArrayDeque<ByteArray>()
    private var sink: ChannelSink? = null
    /** The number of bytes that this end has sent and the other end's sink has not handled. */
    private var outBytes = 0L
    private var full = false
    private var paused = false
    private var closing = false
    private var end: CloseReason? = null
    private var closedReported = false

    override val name: String
        get() = "memory"

    override val isTrusted: Boolean
        get() = true

    override val frameBytesMax: Int
        get() = limits.frameBytesMax

    override fun open(sink: ChannelSink) {
        synchronized(lock) {
            check(this.sink == null) { "sink must be given once: open() was called before" }
            this.sink = sink
        }
        wake()
    }

    override fun send(frame: ByteArray): Boolean {
        limits.check(frame)
        synchronized(lock) {
            if (closing || end != null) return false
            other.inbox.add(frame)
            outBytes += weight(frame)
            if (outBytes >= limits.windowBytes) full = true
        }
        other.wake()
        return !full
    }

    override fun pause() {
        synchronized(lock) { paused = true }
    }

    override fun resume() {
        synchronized(lock) { paused = false }
        wake()
    }

    override fun close(reason: CloseReason) {
        synchronized(lock) {
            if (closing) return
            closing = true
            inbox.clear()
            if (end == null) end = reason
            // The reason's cause stays at this end.
            if (other.end == null) other.end = CloseReason(reason.code, reason.message, reason.detail)
        }
        wake()
        other.wake()
    }

    private fun wake() = deliveries.run(::deliver)

    private fun deliver() {
        while (true) {
            var drained = false
            var frame: ByteArray? = null
            var reason: CloseReason? = null
            val to: ChannelSink
            synchronized(lock) {
                to = sink ?: return
                if (closedReported) return
                if (full && end == null && outBytes * 2 <= limits.windowBytes) {
                    full = false
                    drained = true
                } else {
                    // After the end, no further frames can arrive, so a pause does not hold back the remaining ones.
                    if (paused && end == null) return
                    frame = inbox.poll()
                    if (frame == null) {
                        reason = end ?: return
                        closedReported = true
                    }
                }
            }
            frame?.let {
                guarded { to.frame(it) }
                taken(it)
            }
            if (drained) guarded { to.drained() }
            reason?.let { guarded { to.closed(it) } }
        }
    }

    private fun taken(frame: ByteArray) {
        val wake =
            synchronized(lock) {
                other.outBytes -= weight(frame)
                other.full
            }
        if (wake) other.wake()
    }
}
