// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.meter.host

/** The reason that a report gives if a security manager forbids reading stacks. */
internal const val STACKS_FORBIDDEN: String = "the security manager forbids it"

/** Observes other threads. */
internal interface ThreadObserver {
    /**
     * Returns the frames of the thread's stack as text, innermost first. [clearway.meter.record.frames] omits some
     * frames.
     */
    fun stack(thread: Thread): List<String>

    /** Returns the reason why the host forbids [stack], or null if the host allows it. Stops no thread. */
    fun whyNoStacks(): String? = null

    /** Returns the thread's CPU time in ms, or NaN if the host does not count it. */
    fun cpuMs(thread: Thread): Double

    /** Returns the calling thread's CPU time in ms, or NaN if the host does not count it. */
    fun ownCpuMs(): Double = Double.NaN

    /**
     * Returns a counter of the time that the calling thread waits for a core, or null if the host does not count it.
     * Another thread may read the counter.
     */
    fun waiting(): Waiting?
}

/** Counts how long one thread was ready without a core. */
internal interface Waiting : AutoCloseable {
    /** Returns how long, in ms, the thread waited since the last call. Returns 0 if the host cannot read it. */
    fun takeMs(): Double
}
