// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.lab.memory

/** A mechanism that fills a buffer. One thread uses it. Owns its memory; `close` frees it. */
public interface Filler : AutoCloseable {
    /**
     * Frees the memory that [renew] will replace, unless the garbage collector frees it. Called for fresh memory; not
     * timed.
     */
    public fun release() {}

    /** Allocates new memory in place of the old memory. Called for fresh memory; timed. */
    public fun renew()

    /** Fills the buffer with `value`, from 0 to 255. Always timed. */
    public fun fill(value: Int)

    /** Whether every byte of the buffer is `value`, as Java reads it. */
    public fun holds(value: Int): Boolean

    override fun close() {}
}
