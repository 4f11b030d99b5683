// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.plugin

import clearway.plugin.host.MemoryContext
import clearway.plugin.host.MemoryReference
import java.lang.foreign.Arena
import java.lang.foreign.MemorySegment
import java.nio.ByteBuffer
import java.nio.ByteOrder
import java.util.concurrent.CompletableFuture

/**
 * Native memory that Java uses without a copy. Native code counts the references to the memory, and this object holds
 * one of them. [close] releases that reference. After that, the segments and buffers of this object can no longer be
 * used. When the last reference is released, the memory returns to its pool. If [close] is never called, the garbage
 * collector releases the reference at some time, and [PluginStats.leaked] counts it.
 *
 * Any thread may call the methods. With [ViewKind.CONFINED], the first thread that uses [segment] or [buffer] owns the
 * views, and only that thread may call [close].
 */
public class NativeMemory
internal constructor(
    private val memories: MemoryContext,
    handle: Long,
    private val address: Long,
    override val size: Long,
    private val sealed: Boolean = false,
) : Memory, AutoCloseable {
    internal val reference = MemoryReference(handle, memories.leaked)
    private val cleanable = MemoryContext.cleaner.register(this, reference)
    private var arena: Arena? = null
    @Volatile private var view: MemorySegment? = null

    /**
     * The whole memory. Returns the same segment each time; the first use creates it. The segment is read-only if the
     * memory was sealed when it arrived, because no holder may write to sealed memory. Throws `released` after [close].
     */
    override val segment: MemorySegment
        get() = if (reference.released) throw MemoryReference.released() else view ?: look()

    /**
     * The whole memory as a new direct buffer, in native byte order. Throws `too-large` above 2 GiB, and the exceptions
     * of [segment].
     */
    public val buffer: ByteBuffer
        get() = bufferOf(segment)

    public val released: Boolean
        get() = reference.released

    @Synchronized
    private fun look(): MemorySegment {
        view?.let {
            return it
        }
        if (reference.released) throw MemoryReference.released()
        val made = if (memories.views == ViewKind.CONFINED) Arena.ofConfined() else Arena.ofShared()
        // The arena's clean-up action refers to this object. Any reachable view therefore keeps this object and its
        // memory alive.
        val seen = MemorySegment.ofAddress(address).reinterpret(size, made) { keep(this) }
        val visible = if (sealed) seen.asReadOnly() else seen
        arena = made
        view = visible
        return visible
    }

    /**
     * Releases this object's reference and ends its views. If a call on another thread uses the memory, the reference
     * is released when that call returns. A second call does nothing. Throws `IllegalStateException` if a call on
     * another thread uses a segment of the memory. Throws `WrongThreadException` if another thread owns a confined
     * view. In both cases nothing is released.
     */
    @Synchronized
    override fun close() {
        if (reference.released) return
        arena?.close()
        reference.release()
        cleanable.clean()
    }

    private companion object {
        private fun keep(@Suppress("UNUSED_PARAMETER") memory: NativeMemory) = Unit
    }
}

internal fun bufferOf(segment: MemorySegment): ByteBuffer {
    if (segment.byteSize() > Int.MAX_VALUE) {
        throw PluginException(PluginErrorCode.TOO_LARGE, "a buffer has 2 GiB at most: size=${segment.byteSize()}")
    }
    return segment.asByteBuffer().order(ByteOrder.nativeOrder())
}

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
