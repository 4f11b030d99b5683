// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.plugin

import clearway.plugin.host.MemoryContext
import clearway.plugin.host.MemoryReference
import java.lang.foreign.MemorySegment
import java.util.concurrent.CompletableFuture

/**
 * Memory of the JVM's that native code may use beyond one call, and which it sees without a copy. It ends in two steps:
 * [close] takes it out of the hands of Java's calls at once, and [returned] completes when native code has given its
 * last reference back. Until then native code may still write to it. The segment is kept from the garbage collector so
 * long.
 */
public class LentMemory
internal constructor(
    /** The lent memory, which stays readable. */
    override val segment: MemorySegment,
    handle: Long,
    /** Completes, on the plugin's reading thread, when native code has it no more. */
    public val returned: CompletableFuture<Void?>,
    memories: MemoryContext,
) : Memory, AutoCloseable {
    internal val reference = MemoryReference(handle, memories.leaked)
    private val cleanable = MemoryContext.cleaner.register(this, reference)

    override val size: Long
        get() = segment.byteSize()

    public val released: Boolean
        get() = reference.released

    /** Ends its use by calls: a further one throws `released`. Does not wait. A second call does nothing. */
    override fun close() {
        reference.release()
        cleanable.clean()
    }
}
