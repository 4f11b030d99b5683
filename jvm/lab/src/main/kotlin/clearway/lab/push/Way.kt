// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.lab.push

/** An open mechanism that sends events from the calling thread to a receiver. Owns its threads; `close` ends them. */
internal interface Way : AutoCloseable {
    /**
     * Sends every event. Returns when all have been sent, or have been received. Blocks. Throws if the receiver threw.
     */
    fun run(load: Load, receiver: Receiver)

    override fun close() {}
}

/** A push mechanism, by its name in the scenario files. `unavailable` says why it cannot run here and what to do. */
internal class WayKind(val name: String, val unavailable: String? = null, val open: () -> Way)

internal object Ways {
    val all: List<WayKind> = sameThreadWays + threadWays + rxWays + coroutineWays + queueWays

    fun named(name: String): WayKind =
        requireNotNull(all.find { it.name == name }) { "no such way: $name (${all.joinToString { it.name }})" }
}

/** A mechanism that sends each event with one call. */
internal abstract class Sending : Way {
    abstract fun send(event: Event)

    override fun run(load: Load, receiver: Receiver) = emitAll(load, receiver) { send(it) }
}
