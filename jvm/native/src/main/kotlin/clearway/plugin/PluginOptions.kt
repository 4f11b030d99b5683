// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.plugin

import java.util.concurrent.Executor

/** The threads that may use the views of native memory. The kind determines how much a release costs. */
public enum class ViewKind {
    /**
     * Any thread may use the views. A release ends the views on all threads at once. For that, the JVM briefly stops
     * each thread, which takes some microseconds, or more with many threads.
     */
    SHARED,
    /** Only the first thread that uses the memory may use and release it. A release costs almost nothing. */
    CONFINED,
}

/** The options of a plugin. Change them before [Plugin.load]. Not thread-safe. */
public class PluginOptions {
    internal var views = ViewKind.SHARED
    internal var threads = 0
    internal var callsMax = 0
    internal var streamsMax = 0
    internal var closeMs = 10_000L
    internal var executor: Executor? = null
    internal var onLog: LogListener? = null

    /** Sets the kind of the views of native memory. The default is [ViewKind.SHARED]. */
    public fun views(kind: ViewKind): PluginOptions = apply { views = kind }

    /**
     * Sets the maximum number of threads in the plugin's native pool: 1 to 1024. The default is the number of
     * processors, but at least 2.
     */
    public fun threads(count: Int): PluginOptions = apply { threads = within("threads", count, 1024) }

    /**
     * Sets two limits to one number: calls in progress, and the plugin's own messages in progress. The number must be 1
     * to 1,000,000. The default is 16384.
     */
    public fun callsMax(count: Int): PluginOptions = apply { callsMax = within("callsMax", count, 1_000_000) }

    /** Sets the maximum number of listeners at the same time: 1 to 65536. The default is 1024. */
    public fun streamsMax(count: Int): PluginOptions = apply { streamsMax = within("streamsMax", count, 65_536) }

    /** Sets how long [Plugin.close] waits for running handlers, in milliseconds. The default is 10,000. */
    public fun closeMs(timeoutMs: Long): PluginOptions = apply {
        if (timeoutMs !in 0..Int.MAX_VALUE) throw invalid("closeMs", "0 to ${Int.MAX_VALUE}", timeoutMs)
        closeMs = timeoutMs
    }

    /**
     * Sets the executor that runs the handlers of the plugin's own messages. By default, daemon threads are created
     * when needed and end when idle.
     */
    public fun executor(executor: Executor): PluginOptions = apply { this.executor = executor }

    /**
     * Sets the listener for the plugin's log lines. It runs on the plugin's reading thread and must not block. The
     * default prints warnings and errors to stderr.
     */
    public fun onLog(listener: LogListener): PluginOptions = apply { onLog = listener }

    private fun within(name: String, value: Int, most: Int): Int {
        if (value !in 1..most) throw invalid(name, "1 to $most", value)
        return value
    }
}

/** Receives a plugin's log lines. */
public fun interface LogListener {
    /** Receives a log line. `level` is 0 (debug), 1 (information), 2 (warning) or 3 (error). */
    public fun log(level: Int, text: String)
}

/** Answers messages that a plugin itself sends. */
public fun interface MessageHandler {
    /**
     * Returns the answer, or null for the null message. May block. The message is released when the handler returns, so
     * the handler must copy the bytes that it keeps. If the handler throws, the plugin receives the error `failed`.
     */
    public fun handle(message: Message): Payload?
}
