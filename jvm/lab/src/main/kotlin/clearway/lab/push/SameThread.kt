// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.lab.push

import java.util.concurrent.locks.ReentrantLock
import kotlin.concurrent.withLock

/** Mechanisms without a change of threads. They show the cost of the call itself. */
internal val sameThreadMechanisms: List<PushMechanismKind> =
    listOf(PushMechanismKind("direct") { DirectCall() }, PushMechanismKind("reentrant-lock") { UnderLock() })

private class DirectCall : Sending() {
    override fun send(event: Event) = event.arrive()
}

/**
 * Calls under a lock that no other thread wants, which is the usual case in a stream. Shows the cost of acquiring and
 * releasing a free lock.
 */
private class UnderLock : Sending() {
    private val lock = ReentrantLock()

    override fun send(event: Event) = lock.withLock { event.arrive() }
}
