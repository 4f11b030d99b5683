// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.lab.push

/** An open mechanism that sends events from the calling thread to a receiver. Owns its threads; `close` ends them. */
internal interface PushMechanism : AutoCloseable {
    /**
     * Sends every event. Returns when all have been sent, or have been received. Blocks. Throws if the receiver threw.
     */
    fun run(load: Load, receiver: Receiver)

    override fun close() {}
}

/** A push mechanism, by its name in the scenario files. `unavailable` says why it cannot run here and what to do. */
internal class PushMechanismKind(val name: String, val unavailable: String? = null, val open: () -> PushMechanism)

internal object PushMechanisms {
    val all: List<PushMechanismKind> =
        sameThreadMechanisms + threadMechanisms + rxMechanisms + coroutineMechanisms + queueMechanisms

    /** Several mechanisms in a row. Only the published loads have them. */
    val chains: List<PushMechanismKind> = chainedMechanisms

    fun named(name: String): PushMechanismKind =
        requireNotNull((all + chains).find { it.name == name }) {
            "no such mechanism: $name (${(all + chains).joinToString { it.name }})"
        }
}

/** A mechanism that sends each event with one call. */
internal abstract class Sending : PushMechanism {
    abstract fun send(event: Event)

    override fun run(load: Load, receiver: Receiver) = emitAll(load, receiver) { send(it) }
}
