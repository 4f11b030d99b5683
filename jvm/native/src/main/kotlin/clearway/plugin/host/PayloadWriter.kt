// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.plugin.host

import clearway.plugin.Bytes
import clearway.plugin.CopyReason
import clearway.plugin.LentMemory
import clearway.plugin.Memory
import clearway.plugin.NativeMemory
import clearway.plugin.Payload
import clearway.plugin.PluginErrorCode
import clearway.plugin.PluginException
import clearway.plugin.abi.Abi
import clearway.plugin.abi.Layout
import java.lang.foreign.MemorySegment

internal val Memory.reference: MemoryReference
    get() =
        when (this) {
            is NativeMemory -> reference
            is LentMemory -> reference
        }

/**
 * Runs `use` with the handles of the attachments. Marks the memories as in use until `use` returns. Throws `released`,
 * `too-large`.
 */
internal inline fun <R> attaching(attachments: List<Memory>, scratch: Scratch, use: (MemorySegment, Long) -> R): R {
    if (attachments.isEmpty()) return use(MemorySegment.NULL, 0)
    if (attachments.size > Scratch.ATTACHMENTS_MAX) {
        val most = Scratch.ATTACHMENTS_MAX
        throw PluginException(PluginErrorCode.TOO_LARGE, "$most attachments at most: attachments=${attachments.size}")
    }
    var kept = 0
    try {
        for (memory in attachments) {
            scratch.handles.set(Layout.LONG, 8L * kept, memory.reference.use())
            kept++
        }
        return use(scratch.handles, kept.toLong())
    } finally {
        for (at in 0 until kept) attachments[at].reference.done()
    }
}

/** Writes contents that native code keeps after the call: queued messages, arguments and answers. */
internal class PayloadWriter(
    private val memories: MemoryContext,
    private val loans: Loans,
    private val tag: () -> Long,
) {

    /**
     * Runs `use` with the payload as a clearway_content. Then releases the memory that was copied or lent for the
     * payload; native code has its own references to it.
     */
    inline fun <R> withContent(
        payload: Payload?,
        attachments: List<Memory>,
        scratch: Scratch,
        use: (MemorySegment) -> R,
    ): R =
        attaching(attachments, scratch) { handles, count ->
            val kept = (payload as? Memory)?.reference
            val memory = kept?.use() ?: 0L
            var temporary = 0L
            try {
                if (payload is Bytes) temporary = bytes(payload.segment, scratch) else write(scratch, 0, 0, memory)
                scratch.content.set(Layout.LONG, Layout.CONTENT_ATTACHMENTS, handles.address())
                scratch.content.set(Layout.LONG, Layout.CONTENT_COUNT, count)
                val used = use(scratch.content)
                if (payload is Memory) memories.toNative.shared(payload.size)
                for (each in attachments) memories.toNative.shared(each.size)
                used
            } finally {
                if (temporary != 0L) Abi.memoryRelease(temporary) // native code has its own references now
                kept?.done()
            }
        }

    /**
     * Writes a payload of bytes. Copies few bytes to the scratch. Lends many bytes, or copies them to native memory.
     * Returns the handle that the caller must release; 0 if there is none.
     */
    fun bytes(segment: MemorySegment, scratch: Scratch): Long {
        val size = segment.byteSize()
        if (size < Scratch.ROOM) {
            MemorySegment.copy(segment, 0, scratch.bytes, 0, size)
            memories.toNative.copied(if (segment.isNative) CopyReason.SMALL else CopyReason.HEAP, size)
            write(scratch, scratch.bytes.address(), size, 0)
            return 0
        }
        val memory = if (Loans.isUncloseable(segment)) lent(segment) else copied(segment, scratch)
        write(scratch, 0, 0, memory)
        return memory
    }

    private fun lent(segment: MemorySegment): Long {
        val memory = loans.lend(segment, tag(), null)
        memories.toNative.shared(segment.byteSize())
        return memory
    }

    /** Allocates native memory and copies the bytes into it. Returns its handle, which the caller must release. */
    fun copied(segment: MemorySegment, scratch: Scratch): Long {
        val size = segment.byteSize()
        check(Abi.memoryAllocate(size, 0, scratch.view), "allocate")
        val memory = scratch.view.get(Layout.LONG, Layout.VIEW_MEMORY)
        MemorySegment.copy(segment, 0, MemoryContext.everything, scratch.view.get(Layout.LONG, Layout.VIEW_DATA), size)
        memories.toNative.copied(if (segment.isNative) CopyReason.NOT_KEPT else CopyReason.HEAP, size)
        return memory
    }

    fun write(scratch: Scratch, data: Long, size: Long, memory: Long) {
        scratch.content.set(Layout.LONG, Layout.CONTENT_DATA, data)
        scratch.content.set(Layout.LONG, Layout.CONTENT_SIZE, size)
        scratch.content.set(Layout.LONG, Layout.CONTENT_MEMORY, memory)
    }
}
