// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.channel.codec

/**
 * Detects a map whose keys were crafted to share a hash. The reader uses it only for maps with keys of several types.
 * Keys of one type that share a hash cost little, because a HashMap orders them in a tree. Keys of different types have
 * no common order, so a HashMap compares each `Long` with every `Double` of the same hash. A map of 64,000 crafted keys
 * took 7 s to decode.
 */
internal class MixedKeys {
    private val counts = HashMap<Int, Int>()

    /**
     * Whether more than [SAME_MAX] keys share one hash. Chance does not explain that number, so the peer chose the
     * keys.
     */
    var isFlooded = false
        private set

    fun add(key: Any?) {
        if (counts.merge(key.hashCode(), 1, Int::plus)!! > SAME_MAX) isFlooded = true
    }

    private companion object {
        /**
         * Maximum number of keys that may share a hash. Among a million random 32-bit hashes, even four equal ones are
         * very unlikely.
         */
        const val SAME_MAX = 64
    }
}
