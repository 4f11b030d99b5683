// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.lab.memory

/** A way to fill a buffer. For one thread. Owns its memory; `close` frees it. */
public interface Filler : AutoCloseable {
    /** For fresh memory, not timed: frees the memory that [renew] will replace, unless the garbage collector does. */
    public fun release() {}

    /** For fresh memory, timed: allocates new memory in place of the old. */
    public fun renew()

    /** Fills the buffer. Always timed. `value` is 0 to 255. */
    public fun fill(value: Int)

    /** Whether Java reads `value` in every byte. */
    public fun holds(value: Int): Boolean

    override fun close() {}
}
