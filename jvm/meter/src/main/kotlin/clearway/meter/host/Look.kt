// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.meter.host

/** Why no stack can be read where a security manager does not allow it. */
internal const val STACKS_FORBIDDEN: String = "the security manager forbids it"

/** A sample of another thread. */
internal interface Look {
    /** As [frames] gives it. */
    fun stack(thread: Thread): List<String>

    /** Why [stack] would throw for any other thread; null where it would not. Stops no thread. */
    fun whyNoStacks(): String? = null

    /** Time that it held a processor, in ms; NaN where that cannot be had. */
    fun cpuMs(thread: Thread): Double

    /**
     * The calling thread's waiting times, which another thread may read from now on; null if the system does not count
     * them.
     */
    fun waiting(): Waiting?
}

/** How long one thread was ready to run and did not. */
internal interface Waiting : AutoCloseable {
    /** Milliseconds that it has waited since the last call; 0 where that cannot be read. */
    fun takeMs(): Double
}
