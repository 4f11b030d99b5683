// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.meter.host

/**
 * Times of the watched thread and of the monitor's thread, in ms, as the system counts them. They are how long the
 * watched thread ran on a core, and how long each of the two was ready without a core. The watched thread calls
 * [opened]; the monitor's thread calls everything else.
 */
internal class ThreadTimes(private val observer: ThreadObserver) : AutoCloseable {
    @Volatile private var watched: Waiting? = null
    private var own: Waiting? = null
    private var isStarted = false
    private var cpuMs = Double.NaN

    /** Time that the watched thread ran between the last two readings. NaN if the host does not count it. */
    var newlyRanMs: Double = Double.NaN
        private set

    /**
     * Time that the watched thread was ready without a core between the last two readings. 0 if the host does not count
     * it.
     */
    var newlyWaitedMs: Double = 0.0
        private set

    /** Time that the watched thread ran since [restart]. NaN if the host does not count it. */
    var ranMs: Double = 0.0
        private set

    /** Time that the watched thread was ready without a core since [restart]. */
    var waitedMs: Double = 0.0
        private set

    /** Time that the watched thread ran or was ready between the last two readings, as far as the host counts it. */
    val busyMs: Double
        get() = newlyWaitedMs + if (newlyRanMs.isNaN()) 0.0 else newlyRanMs

    /** Opens the counter of the watched thread. Called on that thread. */
    fun opened() {
        watched = observer.waiting()
    }

    /**
     * Reads the watched thread's clocks, with two system calls. `thread` is null if the thread is unknown or not the
     * only one.
     */
    fun readClocks(thread: Thread?) {
        val before = cpuMs
        cpuMs = thread?.let(observer::cpuMs) ?: Double.NaN
        newlyRanMs = cpuMs - before
        newlyWaitedMs = if (thread == null) 0.0 else watched?.takeMs() ?: 0.0
        ranMs += newlyRanMs
        waitedMs += newlyWaitedMs
    }

    /** Sets [ranMs] and [waitedMs] to 0. */
    fun restart() {
        ranMs = 0.0
        waitedMs = 0.0
    }

    /**
     * Returns how long, in ms, the monitor's thread was ready without a core since the last call. Called on that
     * thread. Returns 0 if the host does not count it.
     */
    fun ownWaitedMs(): Double {
        if (!isStarted) own = observer.waiting()
        isStarted = true
        return own?.takeMs() ?: 0.0
    }

    override fun close() {
        watched?.close()
        own?.close()
    }
}
