// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.plugin.host

import clearway.plugin.CopyReason
import clearway.plugin.LentMemory
import clearway.plugin.Memory
import clearway.plugin.Message
import clearway.plugin.MessageHandler
import clearway.plugin.NativeMemory
import clearway.plugin.Payload
import clearway.plugin.PluginErrorCode
import clearway.plugin.PluginEvents
import clearway.plugin.PluginException
import clearway.plugin.PluginOptions
import clearway.plugin.abi.Abi
import clearway.plugin.abi.Layout
import clearway.plugin.invalid
import java.lang.foreign.Arena
import java.lang.foreign.MemorySegment
import java.util.concurrent.CompletableFuture
import java.util.concurrent.ConcurrentHashMap
import java.util.concurrent.atomic.AtomicLong

/**
 * One open plugin: makes the calls and owns their state. Thread-safe.
 *
 * ```
 *  Java's threads                        libclearway                          the plugin's threads
 *  call ──────────────────────────────── handler runs here
 *  send, listen ───────────────────────► pool, serial queues ───────────────► handler, source
 *  Pending, PluginEvents ◄ EventReader ◄ one wake, then all queued items  ◄── answers, events
 * ```
 */
internal class PluginInstance(
    val id: Long,
    val waiter: Long,
    val path: String,
    val options: PluginOptions,
    decoding: (MemoryContext) -> Decoder,
) {
    val memories = MemoryContext(options.views)

    /** Native memory that lives as long as this object: the buffers for events. */
    val arena: Arena = Arena.ofAuto()
    val loans = Loans(waiter)
    val waiting = ConcurrentHashMap<Long, Pending>()
    val streams = ConcurrentHashMap<Long, PluginEvents>()
    val handlers = ConcurrentHashMap<String, MessageHandler>()
    private val tags = AtomicLong(0)
    val decoder = decoding(memories)
    private val payloads = PayloadWriter(memories, loans) { tags.incrementAndGet() }

    /** Whether closing has begun. Closing removes the handlers one after another. */
    @Volatile var closing: Boolean = false
    @Volatile var closed: Boolean = false

    fun call(channel: NativeChannel, payload: Payload?, attachments: List<Memory>): Message = withScratch { scratch ->
        attaching(attachments, scratch) { handles, count ->
            for (each in attachments) memories.toNative.shared(each.size)
            val call = Direct(channel, scratch, handles, count)
            when (payload) {
                null -> call.with(MemorySegment.NULL, 0, 0) { Message.NULL }
                is Memory -> call.withMemory(payload)
                is clearway.plugin.Bytes -> call.withBytes(payload.segment)
            }
        }
    }

    private inner class Direct(
        val channel: NativeChannel,
        val scratch: Scratch,
        val handles: MemorySegment,
        val count: Long,
    ) {

        fun withMemory(memory: Memory): Message {
            val reference = memory.reference
            val handle = reference.use()
            try {
                memories.toNative.shared(memory.size)
                return with(MemorySegment.NULL, 0, handle) { back(memory, handle) }
            } finally {
                reference.done()
            }
        }

        /**
         * Calls the handler with bytes. Passes writable native memory without a copy; the JVM keeps its arena open
         * during the call. Copies heap memory and read-only memory.
         */
        fun withBytes(segment: MemorySegment): Message {
            val size = segment.byteSize()
            if (segment.isNative && !segment.isReadOnly && size > 0) {
                memories.toNative.shared(size)
                return with(segment, size, 0) { Message.NULL }
            }
            if (size <= Scratch.ROOM) {
                MemorySegment.copy(segment, 0, scratch.bytes, 0, size)
                memories.toNative.copied(if (segment.isNative) CopyReason.NOT_KEPT else CopyReason.HEAP, size)
                return with(scratch.bytes, size, 0) { Message.NULL }
            }
            val memory = payloads.copied(segment, scratch)
            try {
                return with(MemorySegment.NULL, 0, memory) { referred(memory, size) }
            } finally {
                Abi.memoryRelease(memory)
            }
        }

        inline fun with(data: MemorySegment, size: Long, memory: Long, back: () -> Message): Message {
            val event = scratch.event
            val room = Scratch.ROOM
            val status = Abi.channelCall(channel.number, data, size, memory, handles, count, scratch.bytes, room, event)
            if (status != Status.OK_NUMBER) throw refused(status)
            return when (event.get(Layout.INT, Layout.EVENT_KIND)) {
                EVENT_NONE -> Message.NULL
                EVENT_BACK -> back()
                else -> answered()
            }
        }

        private fun answered(): Message =
            try {
                val status = scratch.event.get(Layout.INT, Layout.EVENT_STATUS)
                if (status != Status.OK_NUMBER) throw error(status, channel.name, decoder.text(scratch.event, 0))
                decoder.message(scratch.event, 0, scratch)
            } finally {
                if (scratch.event.get(Layout.LONG, Layout.EVENT_HELD) != 0L) Abi.eventsRelease(scratch.event, 1)
            }

        private fun refused(status: Int): PluginException {
            if (status != Status.PENDING_NUMBER) return error(status, channel.name)
            Abi.callGiveUp(
                id,
                scratch.event.get(Layout.LONG, Layout.EVENT_HANDLE),
            ) // its answer arrives with tag 0, which no call has
            return Status.notDirect(channel.name)
        }

        /**
         * Returns the answer of a handler that sent the whole message back. For lent memory, the answer is the caller's
         * own segment. For native memory, the answer has a new reference.
         */
        private fun back(memory: Memory, handle: Long): Message {
            memories.fromNative.shared(memory.size)
            return if (memory is LentMemory) Message.of(memory.segment) else referred(handle, memory.size)
        }

        private fun referred(handle: Long, size: Long): Message {
            check(Abi.memoryRetain(handle, scratch.number), channel.name)
            check(Abi.memoryView(handle, scratch.view), channel.name)
            val base = scratch.view.get(Layout.LONG, Layout.VIEW_DATA)
            val sealed = scratch.view.get(Layout.INT, Layout.VIEW_FLAGS) and Loans.SEALED_FLAG != 0
            val own = NativeMemory(memories, scratch.number.get(Layout.LONG, 0), base, size, sealed)
            return Message(null, own, 0, size, emptyList())
        }
    }

    fun send(channel: NativeChannel, payload: Payload?, attachments: List<Memory>): CompletableFuture<Message> {
        val pending = Pending(channel.name, tags.incrementAndGet(), this)
        waiting[pending.tag] = pending
        try {
            withScratch { scratch ->
                val status =
                    payloads.withContent(payload, attachments, scratch) { content ->
                        Abi.pluginSend(id, channel.text, content, pending.tag, scratch.event)
                    }
                if (status == Status.PENDING_NUMBER) {
                    pending.call = scratch.event.get(Layout.LONG, Layout.EVENT_HANDLE)
                } else {
                    waiting.remove(pending.tag)
                    check(status, channel.name)
                    settle(pending, scratch.event, 0, scratch)
                    Abi.eventsRelease(scratch.event, 1)
                }
            }
            // Closing fails all waiting calls, but may miss a call that starts at the same time. This line fails such a
            // call.
            if (closed && waiting.remove(pending.tag) != null) pending.fail(closedError())
        } catch (problem: PluginException) {
            waiting.remove(pending.tag)
            pending.fail(problem)
        } catch (problem: Throwable) {
            waiting.remove(pending.tag)
            throw problem
        }
        return pending
    }

    /** Settles a call with the event that contains its answer. An answer that cannot be decoded fails the call. */
    fun settle(pending: Pending, events: MemorySegment, at: Long, scratch: Scratch) {
        val status = events.get(Layout.INT, at + Layout.EVENT_STATUS)
        val answer =
            try {
                if (status != Status.OK_NUMBER) throw error(status, pending.channel, decoder.text(events, at))
                if (pending.isDone) return
                decoder.message(events, at, scratch)
            } catch (problem: Throwable) {
                return pending.fail(undecoded(problem, pending.channel))
            }
        pending.answer(answer)
    }

    fun giveUp(pending: Pending) {
        if (waiting.remove(pending.tag) != null && pending.call != 0L) Abi.callGiveUp(id, pending.call)
    }

    /** Starts a stream. Returns the stream's handle. */
    fun listen(channel: NativeChannel, arguments: Payload?, window: Window, events: PluginEvents): Long {
        val tag = tags.incrementAndGet()
        events.tag = tag
        streams[tag] = events
        try {
            return withScratch { scratch ->
                window.write(scratch.window)
                val status =
                    payloads.withContent(arguments, emptyList(), scratch) { content ->
                        Abi.listen(id, channel.text, content, scratch.window, tag, scratch.number)
                    }
                check(status, channel.name)
                scratch.number.get(Layout.LONG, 0)
            }
        } catch (problem: Throwable) {
            streams.remove(tag)
            throw problem
        }
    }

    fun allocate(size: Long): NativeMemory = withScratch { scratch ->
        open()
        check(Abi.memoryAllocate(size, 0, scratch.view), "allocate: size=$size")
        val view = scratch.view
        NativeMemory(memories, view.get(Layout.LONG, Layout.VIEW_MEMORY), view.get(Layout.LONG, Layout.VIEW_DATA), size)
    }

    fun lend(segment: MemorySegment): LentMemory {
        open()
        val returned = CompletableFuture<Void?>()
        val handle = loans.lend(segment, tags.incrementAndGet(), returned)
        memories.toNative.shared(segment.byteSize())
        return LentMemory(segment, handle, returned, memories)
    }

    /** Answers a message that the plugin sent. Returns libclearway's status. */
    fun answer(reply: Long, payload: Payload?): Int = withScratch { scratch ->
        payloads.withContent(payload, emptyList(), scratch) { content -> Abi.answer(reply, content) }
    }

    fun open() {
        if (closed) throw closedError()
    }

    fun check(status: Int, what: String) {
        if (status != Status.OK_NUMBER) throw error(status, what)
    }

    /**
     * Returns the exception for a status. `STALE` becomes `closed` if the plugin is closed. `NO_HANDLER` becomes
     * `closed` if closing has begun, because closing removes the handlers.
     */
    fun error(status: Int, what: String, text: String = ""): PluginException {
        val gone = closed && status == Status.STALE.ordinal || closing && status == Status.NO_HANDLER.ordinal
        return if (gone) closedError() else Status.error(status, what, text)
    }

    /** Returns the exception for an event that could not be decoded, for example for lack of memory. */
    fun undecoded(problem: Throwable, what: String): PluginException {
        if (problem is PluginException) return problem
        val code = if (problem is OutOfMemoryError) PluginErrorCode.OUT_OF_MEMORY else PluginErrorCode.BAD_ANSWER
        return PluginException(code, "$what: an event could not be decoded: $problem", problem)
    }

    fun closedError() = PluginException(PluginErrorCode.CLOSED, "the plugin is closed: $path")

    companion object {
        const val EVENT_NONE: Int = 0
        const val EVENT_BACK: Int = 6
    }
}

/** A channel of a plugin in libclearway: its name as a clearway_text, and its number. */
internal class NativeChannel(val instance: PluginInstance, val name: String) {
    val text: MemorySegment = textOf(name, Arena.ofAuto())
    val number: Long

    init {
        val size = text.get(Layout.LONG, Layout.TEXT_SIZE)
        if (size !in 1..NAME_MAX) throw invalid("channel", "a name of 1 to $NAME_MAX bytes", name)
        number = withScratch { scratch ->
            instance.check(Abi.channelFind(instance.id, text, scratch.number), name)
            scratch.number.get(Layout.LONG, 0)
        }
    }

    private companion object {
        /** Maximum size of a name in bytes, as in clearway.h. */
        const val NAME_MAX = 256
    }
}

/** Returns a text as a clearway_text. The structure and the bytes live as long as the arena. */
internal fun textOf(text: String, arena: Arena): MemorySegment {
    val bytes = text.toByteArray(Charsets.UTF_8)
    val made = arena.allocate(Layout.TEXT_BYTES + bytes.size, 8)
    MemorySegment.copy(MemorySegment.ofArray(bytes), 0, made, Layout.TEXT_BYTES, bytes.size.toLong())
    made.set(Layout.LONG, Layout.TEXT_DATA, made.address() + Layout.TEXT_BYTES)
    made.set(Layout.LONG, Layout.TEXT_SIZE, bytes.size.toLong())
    return made
}

/**
 * The future of an answer. If the future is cancelled or times out, it notifies the plugin that the caller no longer
 * waits.
 */
internal class Pending(val channel: String, val tag: Long, private val instance: PluginInstance) :
    CompletableFuture<Message>() {
    /** libclearway's handle of the call, which [PluginInstance.giveUp] needs; 0 until the message is sent. */
    @Volatile var call: Long = 0

    override fun cancel(mayInterruptIfRunning: Boolean): Boolean {
        val cancelled = super.cancel(mayInterruptIfRunning)
        if (cancelled) instance.giveUp(this)
        return cancelled
    }

    /** Tells the handler that its caller has left. Unlike [cancel], the future completes when the handler ends. */
    fun unwanted() {
        if (call != 0L && !isDone) Abi.callGiveUp(instance.id, call)
    }

    /** Fails the future and gives up the call. `orTimeout` calls this method. */
    override fun completeExceptionally(problem: Throwable): Boolean {
        val failed = super.completeExceptionally(problem)
        if (failed) instance.giveUp(this)
        return failed
    }

    /** Completes the future with the plugin's answer. Releases the answer if the future is already complete. */
    fun answer(message: Message) {
        if (!complete(message)) message.close()
    }

    fun fail(problem: Throwable) {
        super.completeExceptionally(problem)
    }

    override fun <U> newIncompleteFuture(): CompletableFuture<U> = CompletableFuture()
}

/** The statuses of clearway.h, in the order of their numbers. A test compares them with the header. */
internal enum class Status(val code: PluginErrorCode?) {
    OK(null),
    PENDING(null),
    INVALID_ARGUMENT(PluginErrorCode.INVALID_ARGUMENT),
    STALE(PluginErrorCode.RELEASED),
    OUT_OF_MEMORY(PluginErrorCode.OUT_OF_MEMORY),
    TOO_LARGE(PluginErrorCode.TOO_LARGE),
    FULL(PluginErrorCode.FULL),
    CLOSED(PluginErrorCode.CLOSED),
    NO_HANDLER(PluginErrorCode.NO_HANDLER),
    ALREADY_EXISTS(PluginErrorCode.INVALID_ARGUMENT),
    VERSION(PluginErrorCode.WRONG_VERSION),
    LOAD_FAILED(PluginErrorCode.LOAD_FAILED),
    NOT_A_PLUGIN(PluginErrorCode.NOT_A_PLUGIN),
    INIT_FAILED(PluginErrorCode.INIT_FAILED),
    PANICKED(PluginErrorCode.PANICKED),
    NOT_IMPLEMENTED(PluginErrorCode.NOT_IMPLEMENTED),
    FAILED(PluginErrorCode.FAILED),
    CANCELLED(PluginErrorCode.CANCELLED),
    TIMEOUT(PluginErrorCode.CANCELLED),
    OVERFLOW(PluginErrorCode.OVERFLOW);

    companion object {
        // The status number of [OK]. The enum has the order of the header, so each ordinal is a status number.
        const val OK_NUMBER: Int = 0
        const val PENDING_NUMBER: Int = 1
        /** The smallest status number that a plugin may define itself. */
        const val OWN_MIN: Int = 1000

        /** Returns the exception for a status other than OK. `text` is the error message of the other side. */
        fun error(status: Int, what: String, text: String = ""): PluginException {
            val known = entries.getOrNull(status)?.code
            val code = known ?: if (status >= OWN_MIN) PluginErrorCode.FAILED else PluginErrorCode.BAD_ANSWER
            return PluginException(code, "$what: ${text.ifEmpty { "${code.code} (status $status)" }}")
        }

        fun notDirect(channel: String): PluginException =
            PluginException(
                PluginErrorCode.NOT_DIRECT,
                "$channel: its handler runs elsewhere, or answers later: use send()",
            )
    }
}

/** Throws the exception for a status. Does nothing if the status is OK. */
internal fun check(status: Int, what: String) {
    if (status != Status.OK_NUMBER) throw Status.error(status, what)
}
