// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.lab.push

import java.util.concurrent.locks.ReentrantLock
import kotlin.concurrent.withLock

/** What a hand-over costs by itself, before any thread is crossed. */
internal val sameThreadWays: List<WayKind> =
    listOf(WayKind("direct") { DirectCall() }, WayKind("reentrant-lock") { UnderLock() })

private class DirectCall : Sending() {
    override fun send(event: Event) = event.arrive()
}

/** Never contended here: the cost of taking and giving back a free lock, which is what a stream usually meets. */
private class UnderLock : Sending() {
    private val lock = ReentrantLock()

    override fun send(event: Event) = lock.withLock { event.arrive() }
}
