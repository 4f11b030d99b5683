// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.plugin.host

import clearway.plugin.Bytes
import clearway.plugin.CopyReason
import clearway.plugin.LentMemory
import clearway.plugin.Memory
import clearway.plugin.Message
import clearway.plugin.NativeMemory
import clearway.plugin.Payload
import clearway.plugin.PluginErrorCode
import clearway.plugin.PluginException
import clearway.plugin.abi.Abi
import clearway.plugin.abi.Layout
import java.lang.foreign.Arena
import java.lang.foreign.MemorySegment
import java.lang.foreign.ValueLayout
import java.util.concurrent.ConcurrentLinkedQueue

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

/** Decodes the events of libclearway (clearway_event). An event must not be released before it is decoded. */
internal open class Decoder(private val memories: MemoryContext) {

    /** Returns the content of the event at offset `at`. A message in native memory has its own reference. */
    open fun message(events: MemorySegment, at: Long, scratch: Scratch): Message {
        val from = at + Layout.EVENT_CONTENT
        val data = events.get(Layout.LONG, from + Layout.CONTENT_DATA)
        val size = events.get(Layout.LONG, from + Layout.CONTENT_SIZE)
        val memory = events.get(Layout.LONG, from + Layout.CONTENT_MEMORY)
        val count = events.get(Layout.LONG, from + Layout.CONTENT_COUNT)
        val attachments =
            if (count == 0L) emptyList()
            else attached(events.get(Layout.LONG, from + Layout.CONTENT_ATTACHMENTS), count.toInt(), scratch)
        if (data == 0L && memory == 0L) {
            return if (attachments.isEmpty()) Message.NULL else Message(null, null, 0, 0, attachments)
        }
        val copied = events.get(Layout.LONG, at + Layout.EVENT_COPIED)
        if (memory == 0L || copied in 1..Scratch.ROOM) {
            memories.fromNative.copied(CopyReason.NO_MEMORY, size)
            return Message.of(copy(data, size), attachments)
        }
        if (copied > 0) memories.fromNative.copied(CopyReason.NO_MEMORY, copied) else memories.fromNative.shared(size)
        return taken(memory, data, size, attachments, scratch)
    }

    fun text(events: MemorySegment, at: Long): String {
        val size = events.get(Layout.LONG, at + Layout.EVENT_TEXT + Layout.TEXT_SIZE)
        if (size == 0L) return ""
        val data = events.get(Layout.LONG, at + Layout.EVENT_TEXT + Layout.TEXT_DATA)
        val bytes = ByteArray(size.toInt())
        MemorySegment.copy(MemoryContext.everything, ValueLayout.JAVA_BYTE, data, bytes, 0, bytes.size)
        return String(bytes, Charsets.UTF_8)
    }

    private fun copy(data: Long, size: Long): MemorySegment {
        val bytes = ByteArray(Math.toIntExact(size))
        MemorySegment.copy(MemoryContext.everything, ValueLayout.JAVA_BYTE, data, bytes, 0, bytes.size)
        return MemorySegment.ofArray(bytes)
    }

    private fun attached(handles: Long, count: Int, scratch: Scratch): List<Message> =
        List(count) { at ->
            val memory = MemoryContext.everything.get(Layout.LONG, handles + 8L * at)
            val message = taken(memory, null, 0, emptyList(), scratch)
            memories.fromNative.shared(message.size)
            message
        }

    /**
     * Returns a message of native memory, with its own reference. If the memory is lent memory of the JVM, the message
     * uses the lent segment instead. If `data` is null, the message is the whole memory.
     */
    private fun taken(memory: Long, data: Long?, size: Long, attachments: List<Message>, scratch: Scratch): Message {
        check(Abi.memoryView(memory, scratch.view), "memory")
        val base = scratch.view.get(Layout.LONG, Layout.VIEW_DATA)
        val whole = scratch.view.get(Layout.LONG, Layout.VIEW_SIZE)
        val flags = scratch.view.get(Layout.INT, Layout.VIEW_FLAGS)
        val at = if (data == null) 0 else data - base
        val bytes = if (data == null) whole else size
        if (flags and Loans.LENT_FLAG != 0) {
            Loans.at(base, whole)?.let { lent ->
                return Message.of(if (bytes == whole) lent else lent.asSlice(at, bytes), attachments)
            }
        }
        check(Abi.memoryRetain(memory, scratch.number), "memory")
        val sealed = flags and Loans.SEALED_FLAG != 0
        val own = NativeMemory(memories, scratch.number.get(Layout.LONG, 0), base, whole, sealed)
        return Message(null, own, at, bytes, attachments)
    }
}

/**
 * Native memory for the structures of one call. Each platform thread keeps its own. Virtual threads share a pool,
 * because there may be millions of them.
 */
internal class Scratch {
    private val arena = Arena.ofAuto()
    val event: MemorySegment = arena.allocate(Layout.EVENT_BYTES, 8)
    val content: MemorySegment = arena.allocate(Layout.CONTENT_BYTES, 8)
    val view: MemorySegment = arena.allocate(Layout.VIEW_BYTES, 8)
    val window: MemorySegment = arena.allocate(Layout.WINDOW_BYTES, 8)
    val number: MemorySegment = arena.allocate(8, 8)
    val handles: MemorySegment = arena.allocate(8L * ATTACHMENTS_MAX, 8)
    /**
     * Contains the bytes of a message during a call, and the bytes of a direct answer after it. The answer overwrites
     * the message only after the handler has returned.
     */
    val bytes: MemorySegment = arena.allocate(ROOM, 64)

    /** Whether a caller on this thread's stack already uses the scratch. */
    private var busy = false

    fun give() {
        busy = false
        if (Thread.currentThread().isVirtual) shared.add(this)
    }

    companion object {
        /**
         * Size of [bytes]. From this size on, lending costs less than copying, as measured in the hosts of other
         * languages.
         */
        const val ROOM: Long = 4096
        /** Maximum number of attachments of a message, as in libclearway. */
        const val ATTACHMENTS_MAX: Int = 32

        private val own: ThreadLocal<Scratch> = ThreadLocal.withInitial { Scratch() }
        private val shared = ConcurrentLinkedQueue<Scratch>()

        fun take(): Scratch {
            val taken = if (Thread.currentThread().isVirtual) shared.poll() else own.get()
            val free = if (taken == null || taken.busy) Scratch() else taken
            free.busy = true
            return free
        }
    }
}

internal inline fun <R> withScratch(use: (Scratch) -> R): R {
    val scratch = Scratch.take()
    try {
        return use(scratch)
    } finally {
        scratch.give()
    }
}
