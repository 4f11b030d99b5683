// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.plugin

import java.util.concurrent.Executor

/** The threads that may use the views of native memory. The kind determines the cost of a release. */
public enum class ViewKind {
    /**
     * Any thread may use the views. A release ends the views on all threads at once. The JVM stops each thread briefly
     * for it: some microseconds, more with many threads.
     */
    SHARED,
    /** Only the first thread that uses the memory may use and release it. The release costs almost nothing. */
    CONFINED,
}

/** The options of a plugin. Set them before [Plugin.load]. Not thread-safe. */
public class PluginOptions {
    internal var views = ViewKind.SHARED
    internal var threads = 0
    internal var callsMax = 0
    internal var streamsMax = 0
    internal var closeMs = 10_000L
    internal var executor: Executor? = null
    internal var onLog: LogListener? = null

    /** Sets the kind of views of native memory. Default [ViewKind.SHARED]. */
    public fun views(kind: ViewKind): PluginOptions = apply { views = kind }

    /**
     * Sets the maximum number of threads of the plugin's native pool: 1 to 1024. Default: the number of processors, at
     * least 2.
     */
    public fun threads(count: Int): PluginOptions = apply { threads = within("threads", count, 1024) }

    /**
     * Sets the maximum number of calls in progress, and of messages of the plugin in progress: 1 to 1,000,000.
     * Default 16384.
     */
    public fun callsMax(count: Int): PluginOptions = apply { callsMax = within("callsMax", count, 1_000_000) }

    /** Sets the maximum number of listeners at a time: 1 to 65536. Default 1024. */
    public fun streamsMax(count: Int): PluginOptions = apply { streamsMax = within("streamsMax", count, 65_536) }

    /** Sets how long [Plugin.close] waits for running handlers, in milliseconds. Default 10,000. */
    public fun closeMs(timeoutMs: Long): PluginOptions = apply {
        if (timeoutMs !in 0..Int.MAX_VALUE) throw invalid("closeMs", "0 to ${Int.MAX_VALUE}", timeoutMs)
        closeMs = timeoutMs
    }

    /**
     * Sets the executor of the handlers of the plugin's own messages. Default: daemon threads, created when needed and
     * ended when idle.
     */
    public fun executor(executor: Executor): PluginOptions = apply { this.executor = executor }

    /**
     * Sets the listener for the plugin's log lines. The listener runs on the plugin's reading thread and must not
     * block. Default: prints warnings and errors to stderr.
     */
    public fun onLog(listener: LogListener): PluginOptions = apply { onLog = listener }

    private fun within(name: String, value: Int, most: Int): Int {
        if (value !in 1..most) throw invalid(name, "1 to $most", value)
        return value
    }
}

/** Receives a plugin's log lines. */
public fun interface LogListener {
    /** Receives a line. `level` is 0 to 3, from debug to error. */
    public fun log(level: Int, text: String)
}

/** Answers a plugin's own messages. */
public fun interface MessageHandler {
    /**
     * Returns the answer; null is the null message. May block. The message is released when the handler returns, so the
     * handler must copy bytes that it keeps. If the handler throws, the plugin receives the error `failed`.
     */
    public fun handle(message: Message): Payload?
}
