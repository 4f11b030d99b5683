// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.lab.push

import java.util.concurrent.locks.ReentrantLock
import kotlin.concurrent.withLock

/** The cost of a hand-over without a change of threads. */
internal val sameThreadWays: List<WayKind> =
    listOf(WayKind("direct") { DirectCall() }, WayKind("reentrant-lock") { UnderLock() })

private class DirectCall : Sending() {
    override fun send(event: Event) = event.arrive()
}

/** Uncontended: the cost of acquiring and releasing a free lock, which is the usual case in a stream. */
private class UnderLock : Sending() {
    private val lock = ReentrantLock()

    override fun send(event: Event) = lock.withLock { event.arrive() }
}
