// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.plugin

import clearway.plugin.abi.Abi
import clearway.plugin.abi.Layout
import clearway.plugin.host.EventReader
import clearway.plugin.host.Loader
import clearway.plugin.host.Loans
import clearway.plugin.host.NativeChannel
import clearway.plugin.host.PluginInstance
import clearway.plugin.host.Status
import java.lang.foreign.Arena
import java.lang.foreign.MemorySegment
import java.nio.ByteBuffer
import java.nio.file.Path
import java.util.concurrent.CompletableFuture
import java.util.concurrent.atomic.LongAdder

/**
 * An open native plugin: a shared library in C, C++ or Rust that exports `clearway_plugin_init`
 * (native/include/clearway.h). The plugin's code has all rights of the process. A plugin may be opened several times.
 * Thread-safe.
 *
 * It needs JDK 22 or newer and libclearway (see [load]). Some JVMs also require the option `--enable-native-access`.
 */
public class Plugin
internal constructor(private val instance: PluginInstance, private val reader: EventReader, public val path: Path) :
    AutoCloseable {
    private val closing = Any()

    /**
     * Returns the channel with this name. The name must have 1 to 256 bytes in UTF-8. Throws `invalid-argument`,
     * `closed`.
     */
    public fun channel(name: String): PluginChannel {
        instance.open()
        return PluginChannel(instance, NativeChannel(instance, name))
    }

    /**
     * Allocates native memory that Java can fill and send without a copy. The memory comes from a pool and is not
     * cleared. Throws `too-large`.
     */
    public fun allocate(size: Long): NativeMemory {
        if (size < 0) throw invalid("size", "0 or more", size)
        return instance.allocate(size)
    }

    /**
     * Lends memory of the JVM to native code without a copy, even beyond one call. Accepts segments of direct buffers,
     * of the automatic arena and of the global arena. Throws `would-copy` for heap memory, read-only memory, and memory
     * that could be closed while it is lent. Use [allocate] instead of these.
     */
    public fun lend(segment: MemorySegment): LentMemory {
        if (!Loans.isUncloseable(segment)) {
            val what = if (segment.isNative) "an arena that can be closed, or read-only" else "the heap"
            throw PluginException(PluginErrorCode.WOULD_COPY, "memory of $what cannot be lent: use allocate()")
        }
        return instance.lend(segment)
    }

    /** Lends the remaining bytes of a direct buffer, as [lend] does for segments. */
    public fun lend(buffer: ByteBuffer): LentMemory = lend(MemorySegment.ofBuffer(buffer))

    /**
     * Handles the messages that the plugin itself sends on a channel. Closing the result removes the handler. Throws
     * `invalid-argument` if the channel has a handler.
     */
    public fun handle(channel: String, handler: MessageHandler): AutoCloseable {
        instance.open()
        if (instance.handlers.putIfAbsent(channel, handler) != null) {
            throw invalid("channel", "one that nobody handles", channel)
        }
        return AutoCloseable { instance.handlers.remove(channel, handler) }
    }

    /** Returns the plugin's counters. Throws `closed`. */
    public fun stats(): PluginStats =
        Arena.ofConfined().use { arena ->
            instance.open()
            val stats = arena.allocate(Layout.STATS_BYTES, 8)
            stats.set(Layout.LONG, Layout.STATS_SIZE, Layout.STATS_BYTES)
            instance.check(Abi.pluginStats(instance.id, stats), "stats")
            val numbers = stats.asSlice(Layout.STATS_NUMBERS)
            val native =
                statNames.withIndex().associate { (at, name) -> name to numbers.getAtIndex(Layout.LONG, at.toLong()) }
            val memories = instance.memories
            PluginStats(Ledger(memories.toNative.side(), memories.fromNative.side()), memories.leaked.sum(), native)
        }

    /**
     * Closes the plugin. Calls in progress fail with `closed`, and streams end. After this method returns, the plugin's
     * code no longer runs for this object. Memory that is still in use stays valid until it is released.
     *
     * This method waits for running handlers, but at most [PluginOptions.closeMs]. If a handler does not end in time,
     * this method throws `cancelled`, and may be called again. Inside a callback of the plugin, this method throws
     * `invalid-argument`, because the callback would wait for itself. A call after a successful close does nothing. A
     * call during a close waits for its end. On the thread that completes answers and delivers events, this method does
     * not wait for the remaining ones, because that thread delivers them.
     */
    override fun close() {
        synchronized(closing) { if (!instance.closed) closeInstance() }
        // Without the monitor: the reader's thread may call this method while another thread waits for the reader.
        reader.finish()
    }

    private fun closeInstance() {
        instance.closing = true
        val status = Abi.pluginClose(instance.id, instance.options.closeMs.toInt())
        if (status == Status.TIMEOUT.ordinal) throw Status.error(status, path.toString(), "a handler does not end")
        if (status == Status.INVALID_ARGUMENT.ordinal)
            throw Status.error(status, path.toString(), "a callback of a plugin cannot close it")
        instance.closed = true
    }

    public companion object {
        private val statNames =
            listOf(
                "messages",
                "events",
                "events_dropped",
                "copies",
                "copied_bytes",
                "calls",
                "streams",
                "wait_ns_p50",
                "wait_ns_p99",
                "wait_ns_max",
                "run_ns_p50",
                "run_ns_p99",
                "run_ns_max",
                "memories",
                "memory_bytes",
                "kept_bytes",
            )

        /**
         * Loads and opens a plugin, on the calling thread. The system property `clearway.library` or the environment
         * variable `CLEARWAY_LIBRARY` names the file of libclearway. If neither is set, the system's loader searches
         * for it. Throws `addon-missing` with a message that names the missing part, `load-failed`, `not-a-plugin`,
         * `wrong-version`, `init-failed`.
         */
        @JvmStatic
        @JvmOverloads
        public fun load(path: Path, options: PluginOptions = PluginOptions()): Plugin = Loader.load(path, options)
    }
}

/**
 * A channel of a plugin. Create it once and use it for many calls. Creating one is cheap and sends nothing.
 * Thread-safe.
 */
public class PluginChannel
internal constructor(private val instance: PluginInstance, private val channel: NativeChannel) {
    public val name: String
        get() = channel.name

    /**
     * Runs the handler on the calling thread and returns its answer. Use this method for direct handlers only, which
     * should take microseconds. Several threads may run the handler at the same time. Native memory is not copied, and
     * the handler may write to it. A null answer allocates nothing. Throws the handler's error, `no-handler`, and
     * `not-direct` if the handler runs on another thread or answers later.
     */
    @JvmOverloads
    public fun call(message: Payload? = null, attachments: List<Memory> = emptyList()): Message =
        instance.call(channel, message, attachments)

    /** Runs the handler with a copy of the bytes. */
    public fun call(message: ByteArray): Message = call(Payload.of(message))

    /**
     * Sends a message to the handler. A direct handler runs on the calling thread. Other handlers run on the plugin's
     * thread pool or in its serial queue, and this method does not wait for them.
     *
     * The plugin's reading thread completes the future. Code chained to the future must not block that thread; use the
     * `…Async` forms. If the handler is direct, the future is complete when this method returns. The future fails with
     * a [PluginException]. If the future is cancelled or times out, the plugin is notified that the caller no longer
     * waits.
     */
    @JvmOverloads
    public fun send(message: Payload? = null, attachments: List<Memory> = emptyList()): CompletableFuture<Message> =
        instance.send(channel, message, attachments)

    /** Sends a copy of the bytes to the handler. */
    public fun send(message: ByteArray): CompletableFuture<Message> = send(Payload.of(message))

    /**
     * Listens to the channel's events, with credit. Throws `no-handler` if the plugin has no source for the channel. If
     * the source refuses the listener, the stream fails with the source's error.
     */
    @JvmOverloads
    public fun listen(options: ListenOptions = ListenOptions()): PluginEvents {
        instance.open()
        return PluginEvents(channel, options)
    }
}

/** The reasons why bytes are copied between Java and a plugin. */
public enum class CopyReason {
    /** The sender's bytes are not in native memory of Clearway. They are copied into the queue and out of it. */
    NO_MEMORY,
    /**
     * The bytes are in native memory, but there are fewer than 4096 of them. Copying them costs less than lending them.
     */
    SMALL,
    /**
     * The bytes are in the JVM's heap. The garbage collector may move them, so native code cannot use them in place.
     */
    HEAP,
    /** The bytes are in native memory that is read-only or could be closed while native code uses it. */
    NOT_KEPT,
}

/** The bytes that were passed in one direction. A snapshot. */
public class LedgerSide
internal constructor(
    /** The number of bytes that were not copied, in native memory or in lent memory. */
    public val sharedBytes: Long,
    /** The number of bytes that were copied. */
    public val copiedBytes: Long,
    /** The number of copied messages for each reason. A reason without copies is absent. */
    public val copies: Map<CopyReason, Long>,
)

/** The bytes that were passed in both directions. A snapshot. */
public class Ledger internal constructor(public val toNative: LedgerSide, public val fromNative: LedgerSide)

/** The counters of an open plugin. A snapshot. */
public class PluginStats
internal constructor(
    public val ledger: Ledger,
    /**
     * The number of native memories that the garbage collector released. If it is above 0, the application does not
     * close every memory.
     */
    public val leaked: Long,
    /** The counters of the native side. The keys are the field names of `clearway_stats` in clearway_host.h. */
    public val native: Map<String, Long>,
)

/** Counts the bytes of one direction. Any thread may call its methods. */
internal class Counts {
    private val shared = LongAdder()
    private val copied = LongAdder()
    private val counts = Array(CopyReason.entries.size) { LongAdder() }

    fun shared(bytes: Long) = shared.add(bytes)

    fun copied(reason: CopyReason, bytes: Long) {
        copied.add(bytes)
        counts[reason.ordinal].increment()
    }

    fun side(): LedgerSide {
        val copies = CopyReason.entries.associateWith { counts[it.ordinal].sum() }.filterValues { it > 0 }
        return LedgerSide(shared.sum(), copied.sum(), copies)
    }
}
