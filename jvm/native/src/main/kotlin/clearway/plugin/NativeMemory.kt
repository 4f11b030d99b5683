// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.plugin

import clearway.plugin.host.MemoryContext
import clearway.plugin.host.MemoryReference
import java.lang.foreign.Arena
import java.lang.foreign.MemorySegment
import java.nio.ByteBuffer
import java.nio.ByteOrder

/**
 * Native memory, seen from Java without a copy. Native memory counts its holders; this object is one of them. Give it
 * back with [close]: then every segment and buffer over it is an error to use, and the slab is free for its next use.
 * Where that is forgotten, the garbage collector does it some time, and [PluginStats.leaked] counts it.
 *
 * Its methods may be used from any thread; with [ViewKind.CONFINED] its views belong to the thread that looked first,
 * which must be the one that closes.
 */
public class NativeMemory
internal constructor(
    private val memories: MemoryContext,
    handle: Long,
    private val address: Long,
    override val size: Long,
) : Memory, AutoCloseable {
    internal val reference = MemoryReference(handle, memories.leaked)
    private val cleanable = MemoryContext.cleaner.register(this, reference)
    private var arena: Arena? = null
    @Volatile private var view: MemorySegment? = null

    /** All of it, the same segment each time. Made with the first look. Throws `released` after the release. */
    override val segment: MemorySegment
        get() = if (reference.released) throw MemoryReference.released() else view ?: look()

    /**
     * All of it as a direct buffer of its own, in native byte order. Throws `too-large` over 2 GiB, and as [segment]
     * does.
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
        // The arena's clean-up holds on to this, so that a view that outlives its memory's object stays what it is.
        val seen = MemorySegment.ofAddress(address).reinterpret(size, made) { keep(this) }
        arena = made
        view = seen
        return seen
    }

    /**
     * Gives this reference up, and ends the views. At once; where a call on another thread uses the memory, when that
     * returns. Again does nothing. Throws `IllegalStateException` where a call on another thread uses a segment of it,
     * and `WrongThreadException` where a confined view is another thread's: then it is not released.
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
