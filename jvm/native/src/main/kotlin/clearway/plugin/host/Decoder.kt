// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.plugin.host

import clearway.plugin.CopyReason
import clearway.plugin.Message
import clearway.plugin.NativeMemory
import clearway.plugin.abi.Abi
import clearway.plugin.abi.Layout
import java.lang.foreign.MemorySegment
import java.lang.foreign.ValueLayout

/** Decodes the events of libclearway (clearway_event). An event must not be released before it is decoded. */
internal class Decoder(private val memories: MemoryContext) {

    /** Returns the content of the event at offset `at`. A message in native memory has its own reference. */
    fun message(events: MemorySegment, at: Long, scratch: Scratch): Message {
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
