// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.lab.memory

/** A way to have a buffer filled. Of one thread. Owns its memory; `close` gives that back. */
public interface Filler : AutoCloseable {
    /** For the fresh series, outside the time: gives back what [renew] will replace, where the collector does not. */
    public fun release() {}

    /** For the fresh series, in the time: asks for memory in place of what there was. */
    public fun renew()

    /** The time of this is what is measured. `value` is 0 to 255. */
    public fun fill(value: Int)

    /** Whether every byte is `value`, as Java sees it. */
    public fun holds(value: Int): Boolean

    override fun close() {}
}
