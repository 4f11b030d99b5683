// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.plugin

import java.util.concurrent.Executor

/** Who may look at native memory, and what it costs to take that away again. */
public enum class ViewKind {
    /**
     * Any thread. The release ends the view on all threads at once, for which the JVM stops each of them for a moment:
     * some microseconds, more with many threads.
     */
    SHARED,
    /** The thread that looks first, which also releases it. The release costs next to nothing. */
    CONFINED,
}

/** How a plugin is opened. Set before [Plugin.load]; not for several threads at once. */
public class PluginOptions {
    internal var views = ViewKind.SHARED
    internal var threads = 0
    internal var callsMax = 0
    internal var streamsMax = 0
    internal var closeMs = 10_000L
    internal var executor: Executor? = null
    internal var onLog: LogListener? = null

    /** Default [ViewKind.SHARED]. */
    public fun views(kind: ViewKind): PluginOptions = apply { views = kind }

    /**
     * Threads of the plugin's native pool at most: 1 to 1024. Default: as many as there are processors, and 2 at least.
     */
    public fun threads(count: Int): PluginOptions = apply { threads = within("threads", count, 1024) }

    /** Calls under way at most, and as many messages of the plugin's: 1 to 1,000,000. Default 16384. */
    public fun callsMax(count: Int): PluginOptions = apply { callsMax = within("callsMax", count, 1_000_000) }

    /** Listeners at a time: 1 to 65536. Default 1024. */
    public fun streamsMax(count: Int): PluginOptions = apply { streamsMax = within("streamsMax", count, 65_536) }

    /** How long [Plugin.close] waits for handlers that run, in milliseconds. Default 10,000. */
    public fun closeMs(timeoutMs: Long): PluginOptions = apply {
        if (timeoutMs !in 0..Int.MAX_VALUE) throw invalid("closeMs", "0 to ${Int.MAX_VALUE}", timeoutMs)
        closeMs = timeoutMs
    }

    /** Where handlers of the plugin's own messages run. Default: daemon threads that are kept while they are used. */
    public fun executor(executor: Executor): PluginOptions = apply { this.executor = executor }

    /**
     * Called with the plugin's log lines, on the plugin's reading thread: it must not block. Default: prints warnings
     * and errors to stderr.
     */
    public fun onLog(listener: LogListener): PluginOptions = apply { onLog = listener }

    private fun within(name: String, value: Int, most: Int): Int {
        if (value !in 1..most) throw invalid(name, "1 to $most", value)
        return value
    }
}

/** Receives a plugin's log lines. */
public fun interface LogListener {
    /** `level`: 0 to 3, from debug to error. */
    public fun log(level: Int, text: String)
}

/** Answers a plugin's own messages. */
public fun interface MessageHandler {
    /**
     * Gives the answer; null is the null message. May block. The message is released when this has returned: what is to
     * be kept is copied. What it throws is the plugin's answer, as `failed`.
     */
    public fun handle(message: Message): Payload?
}
