// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.meter.host

/**
 * Times that the system counts for two threads, in ms: how long the watched thread had a core, and how long the watched
 * thread and the heart's own were ready without one. The watched thread calls [opened]; the heart's thread calls the
 * rest.
 */
internal class ThreadTimes(private val look: Look) : AutoCloseable {
    @Volatile private var watched: Waiting? = null
    private var own: Waiting? = null
    private var isStarted = false
    private var cpuMs = Double.NaN

    /** How long the watched thread ran between the last two readings. NaN if the host does not count it. */
    var newlyRanMs: Double = Double.NaN
        private set

    /**
     * How long the watched thread was ready without a core between the last two readings. 0 if the host does not count
     * it.
     */
    var newlyWaitedMs: Double = 0.0
        private set

    /**
     * How long the watched thread ran since [restart]. [waitedMs] is how long it was ready without a core since then.
     */
    var ranMs: Double = 0.0
        private set

    var waitedMs: Double = 0.0
        private set

    /** How long the watched thread ran or was ready between the last two readings, as far as the host counts it. */
    val busyMs: Double
        get() = newlyWaitedMs + if (newlyRanMs.isNaN()) 0.0 else newlyRanMs

    fun opened() {
        watched = look.waiting()
    }

    /**
     * Reads the watched thread's clocks, with two system calls. `thread` is null if it is unknown or there are several.
     */
    fun look(thread: Thread?) {
        val before = cpuMs
        cpuMs = thread?.let(look::cpuMs) ?: Double.NaN
        newlyRanMs = cpuMs - before
        newlyWaitedMs = if (thread == null) 0.0 else watched?.takeMs() ?: 0.0
        ranMs += newlyRanMs
        waitedMs += newlyWaitedMs
    }

    fun restart() {
        ranMs = 0.0
        waitedMs = 0.0
    }

    /**
     * Returns how long the calling thread, the heart's, was ready without a core since the last call. 0 if the host
     * does not count it.
     */
    fun ownWaitedMs(): Double {
        if (!isStarted) own = look.waiting()
        isStarted = true
        return own?.takeMs() ?: 0.0
    }

    override fun close() {
        watched?.close()
        own?.close()
    }
}
