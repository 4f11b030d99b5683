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

/**
 * All codes of a [PluginException], the same in every language. `spec/errors.md` recommends an action for each code.
 */
public enum class PluginErrorCode(
    /** The code, the same in every language. */
    public val code: String
) {
    /** An argument or an option is out of its range. The error's message has its name and its value. */
    INVALID_ARGUMENT("invalid-argument"),
    /** The plugin host is missing: libclearway was not built or not found, or this JVM is older than 22. */
    ADDON_MISSING("addon-missing"),
    /** The library could not be loaded. The file does not exist or is for another system, or a symbol is missing. */
    LOAD_FAILED("load-failed"),
    /** The library is not a Clearway plugin, because it does not export `clearway_plugin_init`. */
    NOT_A_PLUGIN("not-a-plugin"),
    /** The plugin was built for another major version of the ABI. */
    WRONG_VERSION("wrong-version"),
    /** The plugin's init function refused or crashed. */
    INIT_FAILED("init-failed"),
    /** The handler runs on another thread or answers later. `call` cannot wait for it; use `send`. */
    NOT_DIRECT("not-direct"),
    /** The plugin has no handler, or no source, for the channel. */
    NO_HANDLER("no-handler"),
    /** The handler does not know the method. */
    NOT_IMPLEMENTED("not-implemented"),
    /** The handler failed. The message is the handler's own. */
    FAILED("failed"),
    /** The handler panicked. The plugin stays usable. */
    PANICKED("panicked"),
    /** The plugin gave an invalid answer, such as a length beyond its memory or a stale reference. */
    BAD_ANSWER("bad-answer"),
    /** Too many calls are in progress, or a queue is full. */
    FULL("full"),
    /** A number of bytes or of names is above the limit. */
    TOO_LARGE("too-large"),
    /** Events arrived faster than they were read, and the policy is [WhenFull.FAIL]. */
    OVERFLOW("overflow"),
    /** Native memory could not be allocated. */
    OUT_OF_MEMORY("out-of-memory"),
    /** The memory was used after its release. */
    RELEASED("released"),
    /** The caller gave up without a reason, or a handler did not end before the timeout of [Plugin.close]. */
    CANCELLED("cancelled"),
    /** The plugin is closed, or was closed before it answered. */
    CLOSED("closed"),
    /** The memory cannot be lent without a copy, and the caller allowed no copy. */
    WOULD_COPY("would-copy"),
}

/**
 * The error of a plugin or of this library. Futures and streams fail with it, too. Programs should compare [code] and
 * never the message.
 */
public class PluginException
@JvmOverloads
public constructor(public val code: PluginErrorCode, message: String, cause: Throwable? = null) :
    RuntimeException(message, cause)

/** Returns an `invalid-argument` error with the message `name must be …: name=value`. */
internal fun invalid(name: String, must: String, value: Any?): PluginException =
    PluginException(PluginErrorCode.INVALID_ARGUMENT, "$name must be $must: $name=$value")
