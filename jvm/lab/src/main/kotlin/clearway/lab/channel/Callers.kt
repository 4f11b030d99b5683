// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.lab.channel

import clearway.lab.foreign.Foreign
import clearway.lab.jni.Peers

/** All mechanisms that call native code in this process, by name. */
internal object Callers {
    /**
     * A mechanism that calls native code. `problem` says why it cannot run here and what to do, or is null if it can.
     */
    class Mechanism(val name: String, val problem: String?, val open: (Row) -> Caller)

    val native: List<Mechanism> by lazy {
        listOf(
            Mechanism("jni-array", Peers.problem()) { row -> byJni(row, ::ByArrays) },
            Mechanism("jni-direct", Peers.problem()) { row -> byJni(row, ::ByDirectBuffers) },
            Mechanism("ffm", Foreign.problemOf("ffm")) { row -> CrossingCaller(row, Foreign.crossing("ffm")) },
            Mechanism("clearway", Foreign.problemOf("clearway")) { row -> Foreign.caller("clearway", row) },
        )
    }

    private fun byJni(row: Row, open: () -> Crossing): Caller {
        Peers.load()
        return CrossingCaller(row, open())
    }

    fun named(name: String): Mechanism =
        requireNotNull(native.find { it.name == name }) {
            "no such mechanism on this host: $name (${native.joinToString { it.name }})"
        }
}
