// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.channel.codec

/**
 * How many keys of one map have the same hash, where its keys are of several types. Keys of one hash cost little while
 * they are of one type, because a HashMap then keeps them in their order. Keys of two types have none: a `Long` is
 * compared with every `Double` of its hash, so that 64,000 crafted keys took 7 s.
 */
internal class MixedKeys {
    private val counts = HashMap<Int, Int>()

    /** Whether so many keys share a hash that a peer must have chosen them. */
    var isFlooded = false
        private set

    fun add(key: Any?) {
        if (counts.merge(key.hashCode(), 1, Int::plus)!! > SAME_MAX) isFlooded = true
    }

    private companion object {
        /** Of a million random keys of 32 bits about three have the same hash. */
        const val SAME_MAX = 64
    }
}
