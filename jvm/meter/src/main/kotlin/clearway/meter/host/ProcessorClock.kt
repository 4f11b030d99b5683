// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.meter.host

import java.lang.management.ManagementFactory

/**
 * Reads threads' processor time from the JVM's bean. A class of its own, because not every JVM has the module
 * `java.management`.
 */
internal class ProcessorClock {
    private val threads =
        ManagementFactory.getThreadMXBean().takeIf { it.isThreadCpuTimeSupported && it.isThreadCpuTimeEnabled }

    /** Returns the thread's processor time in ns, or -1 if the JVM does not count it. */
    fun ns(thread: Thread): Long = threads?.getThreadCpuTime(idOf(thread)) ?: -1

    // JDK 19 names it `threadId`; JDK 17 has only this property.
    @Suppress("DEPRECATION") private fun idOf(thread: Thread): Long = thread.id
}
