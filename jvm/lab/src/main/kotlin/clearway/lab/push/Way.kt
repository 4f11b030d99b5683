// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.lab.push

/** An open way from the calling thread to a receiver. Owns its threads; `close` ends them. */
internal interface Way : AutoCloseable {
    /** Sends every event. Returns when all are sent, or received. Blocks. Throws if the receiver did. */
    fun run(load: Load, receiver: Receiver)

    override fun close() {}
}

/** A way, by its name in the scenario files. `unavailable` says why it cannot run here and how to make it run. */
internal class WayKind(val name: String, val unavailable: String? = null, val open: () -> Way)

internal object Ways {
    val all: List<WayKind> = sameThreadWays + threadWays + rxWays + coroutineWays + queueWays

    fun named(name: String): WayKind =
        requireNotNull(all.find { it.name == name }) { "no such way: $name (${all.joinToString { it.name }})" }
}

/** A way that sends by one function. */
internal abstract class Sending : Way {
    abstract fun send(event: Event)

    override fun run(load: Load, receiver: Receiver) = emitAll(load, receiver) { send(it) }
}
