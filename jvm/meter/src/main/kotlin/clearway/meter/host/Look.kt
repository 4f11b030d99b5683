// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.meter.host

/** The reason given when a security manager forbids reading stacks. */
internal const val STACKS_FORBIDDEN: String = "the security manager forbids it"

/** Observes other threads. */
internal interface Look {
    /** Returns the thread's frames in the form of [frames]. */
    fun stack(thread: Thread): List<String>

    /** Returns why [stack] would throw for any other thread, or null if it would not. Stops no thread. */
    fun whyNoStacks(): String? = null

    /** Returns the thread's processor time in ms, or NaN if the host does not count it. */
    fun cpuMs(thread: Thread): Double

    /**
     * Returns the counter of the calling thread's wait for a core, or null if the host does not count it. Another
     * thread may read the counter.
     */
    fun waiting(): Waiting?
}

/** Counts how long one thread was ready without a core. */
internal interface Waiting : AutoCloseable {
    /** Returns the milliseconds that the thread waited since the last call, or 0 if the host cannot read them. */
    fun takeMs(): Double
}
