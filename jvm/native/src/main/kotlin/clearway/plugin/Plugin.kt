// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.plugin

import clearway.plugin.abi.Abi
import clearway.plugin.abi.Layout
import clearway.plugin.host.Loader
import clearway.plugin.host.Loans
import clearway.plugin.host.Opening
import clearway.plugin.host.Port
import clearway.plugin.host.Pump
import clearway.plugin.host.Status
import java.lang.foreign.Arena
import java.lang.foreign.MemorySegment
import java.nio.ByteBuffer
import java.nio.file.Path

/**
 * A native plugin, opened: a shared library in C, C++ or Rust that exports `clearway_plugin_init`
 * (native/include/clearway.h). Code in it runs with all the rights of the process. Safe for use from any thread; may be
 * opened several times.
 *
 * Needs JDK 22 or newer, libclearway (see [load]), and `--enable-native-access` where the JVM asks for it.
 */
public class Plugin internal constructor(private val opening: Opening, private val pump: Pump, public val path: Path) :
    AutoCloseable {
    private val closing = Any()

    /** A channel by its name: 1 to 256 bytes of UTF-8. Throws `invalid-argument`, `closed`. */
    public fun channel(name: String): PluginChannel {
        opening.open()
        return PluginChannel(opening, Port(opening, name))
    }

    /**
     * Native memory that Java fills and hands over without a copy. Holds what it held before: it is pooled. Throws
     * `too-large`.
     */
    public fun allocate(size: Long): NativeMemory {
        if (size < 0) throw invalid("size", "0 or more", size)
        return opening.allocate(size)
    }

    /**
     * Lets native code use memory of the JVM's beyond one call: a direct buffer's, from its position to its limit, or a
     * segment of the automatic or the global arena. Copies nothing. Throws `would-copy` for memory that native code
     * cannot see (the heap's), must not write to, or that somebody could close meanwhile: use [allocate] there.
     */
    public fun lend(segment: MemorySegment): LentMemory {
        if (!Loans.lasts(segment)) {
            val what = if (segment.isNative) "an arena that can be closed, or read-only" else "the heap"
            throw PluginException(PluginErrorCode.WOULD_COPY, "memory of $what cannot be lent: use allocate()")
        }
        return opening.lend(segment)
    }

    /** The same for a direct buffer. */
    public fun lend(buffer: ByteBuffer): LentMemory = lend(MemorySegment.ofBuffer(buffer))

    /**
     * Handles the plugin's own messages on a channel; closing ends that. Throws `invalid-argument` for one that is
     * handled already.
     */
    public fun handle(channel: String, handler: MessageHandler): AutoCloseable {
        opening.open()
        if (opening.handlers.putIfAbsent(channel, handler) != null) {
            throw invalid("channel", "one that nobody handles", channel)
        }
        return AutoCloseable { opening.handlers.remove(channel, handler) }
    }

    /** Counters. Throws `closed`. */
    public fun stats(): PluginStats =
        Arena.ofConfined().use { arena ->
            opening.open()
            val stats = arena.allocate(Layout.STATS_BYTES, 8)
            stats.set(Layout.LONG, Layout.STATS_SIZE, Layout.STATS_BYTES)
            opening.check(Abi.pluginStats(opening.id, stats), "stats")
            val numbers = stats.asSlice(Layout.STATS_NUMBERS)
            val native =
                statNames.withIndex().associate { (at, name) -> name to numbers.getAtIndex(Layout.LONG, at.toLong()) }
            val memories = opening.memories
            PluginStats(Ledger(memories.toNative.side(), memories.fromNative.side()), memories.leaked.sum(), native)
        }

    /**
     * Ends it: calls under way fail with `closed`, streams end with it, and when this returns none of its code runs for
     * this opening any more. Memory that is out stays until it is released. Waits for handlers that run, as long as
     * [PluginOptions.closeMs] says; where one does not end, throws `cancelled`, and may be called again. Throws
     * `invalid-argument` in a callback of the plugin, which would wait for itself. Again does nothing.
     */
    override fun close(): Unit =
        synchronized(closing) {
            if (opening.closed) return
            opening.closing = true
            val status = Abi.pluginClose(opening.id, opening.options.closeMs.toInt())
            if (status == Status.TIMEOUT.ordinal) throw Status.error(status, path.toString(), "a handler does not end")
            if (status == Status.INVALID_ARGUMENT.ordinal)
                throw Status.error(status, path.toString(), "a callback of a plugin cannot close it")
            opening.closed = true
            pump.finish()
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
         * Loads and opens a plugin, on this thread. libclearway is looked for where the system property
         * `clearway.library` or the environment's `CLEARWAY_LIBRARY` says, else where the system's loader looks. Throws
         * `addon-missing`, which says what is needed, `load-failed`, `not-a-plugin`, `wrong-version`, `init-failed`.
         */
        @JvmStatic
        @JvmOverloads
        public fun load(path: Path, options: PluginOptions = PluginOptions()): Plugin = Loader.load(path, options)
    }
}
