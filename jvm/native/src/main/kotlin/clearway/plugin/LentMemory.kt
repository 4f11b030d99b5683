// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.plugin

import clearway.plugin.host.MemoryContext
import clearway.plugin.host.MemoryReference
import java.lang.foreign.MemorySegment
import java.util.concurrent.CompletableFuture

/**
 * Memory of the JVM that native code may use without a copy. Native code may use it even after a call has returned. A
 * loan ends in two steps. After [close], calls from Java can no longer use the memory. [returned] completes when native
 * code has released its last reference. Until then, native code may write to the memory, and the garbage collector
 * keeps the segment.
 */
public class LentMemory
internal constructor(
    /** The lent memory. It stays readable after [close]. */
    override val segment: MemorySegment,
    handle: Long,
    /**
     * Completes when native code has released the memory. The plugin's reading thread completes it, so code chained to
     * it must not block.
     */
    public val returned: CompletableFuture<Void?>,
    memories: MemoryContext,
) : Memory, AutoCloseable {
    internal val reference = MemoryReference(handle, memories.leaked)
    private val cleanable = MemoryContext.cleaner.register(this, reference)

    override val size: Long
        get() = segment.byteSize()

    public val released: Boolean
        get() = reference.released

    /**
     * Ends the use of the memory in calls: later calls throw `released`. Does not wait for native code. A second call
     * does nothing.
     */
    override fun close() {
        reference.release()
        cleanable.clean()
    }
}
