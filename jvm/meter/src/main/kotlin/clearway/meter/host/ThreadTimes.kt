// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.meter.host

/**
 * What the system counts of two threads, in ms: how long the watched one had a core, and how long it and the heart's
 * own were ready and not run. [opened] is for the watched thread to call, the rest for the heart's.
 */
internal class ThreadTimes(private val look: Look) : AutoCloseable {
    @Volatile private var watched: Waiting? = null
    private var own: Waiting? = null
    private var isStarted = false
    private var cpuMs = Double.NaN

    /** How long the watched thread ran between the last two samples; NaN if unknown. */
    var newlyRanMs: Double = Double.NaN
        private set

    /** How long it was ready and did not run between the last two samples; 0 if unknown. */
    var newlyWaitedMs: Double = 0.0
        private set

    /** All that since [restart]. */
    var ranMs: Double = 0.0
        private set

    var waitedMs: Double = 0.0
        private set

    /** How long it ran, or was ready to, between the last two looks, as far as that is known. */
    val busyMs: Double
        get() = newlyWaitedMs + if (newlyRanMs.isNaN()) 0.0 else newlyRanMs

    fun opened() {
        watched = look.waiting()
    }

    /** Looks at the watched thread's clocks: two system calls. `thread` is null where it is not one, or not known. */
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

    /** How long the calling thread, the heart's, was ready and did not run since the last call; 0 if unknown. */
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
