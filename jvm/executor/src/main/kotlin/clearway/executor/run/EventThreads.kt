// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.executor.run

import java.util.concurrent.ConcurrentHashMap

/** The registered threads that must not be blocked. */
internal class EventThreads {
    private val threads: MutableSet<Thread> = ConcurrentHashMap.newKeySet()

    fun register(thread: Thread) {
        threads.removeIf { it.state == Thread.State.TERMINATED }
        threads += thread
    }

    fun isOne(thread: Thread): Boolean = !threads.isEmpty() && thread in threads
}
