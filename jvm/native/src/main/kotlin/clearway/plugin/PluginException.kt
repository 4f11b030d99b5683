// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.plugin

/**
 * Every code that a [PluginException] may carry: the same list in every language, with what to do in `spec/errors.md`.
 */
public enum class PluginErrorCode(
    /** As the other languages write it. */
    public val code: String
) {
    /** An argument or an option is out of its range; the message names it and its value. */
    INVALID_ARGUMENT("invalid-argument"),
    /** The host of plugins is missing: libclearway was not built or not found, or this JVM is older than 22. */
    ADDON_MISSING("addon-missing"),
    /** The library could not be loaded: no such file, for another system, or a symbol is missing. */
    LOAD_FAILED("load-failed"),
    /** The library is no Clearway plugin: it exports no `clearway_plugin_init`. */
    NOT_A_PLUGIN("not-a-plugin"),
    /** The plugin was built for another major version of the ABI. */
    WRONG_VERSION("wrong-version"),
    /** The plugin's own start refused, or crashed. */
    INIT_FAILED("init-failed"),
    /** The handler runs elsewhere, or answers later: `call` cannot wait for it; use `send`. */
    NOT_DIRECT("not-direct"),
    /** The plugin has no handler, or no source, for the channel. */
    NO_HANDLER("no-handler"),
    /** The handler does not know the method. */
    NOT_IMPLEMENTED("not-implemented"),
    /** The handler failed; the message is its own. */
    FAILED("failed"),
    /** The handler panicked; the plugin lives on. */
    PANICKED("panicked"),
    /** The plugin gave an answer that cannot be: a length beyond its memory, a stale reference. */
    BAD_ANSWER("bad-answer"),
    /** Too many calls are under way, or a queue is full. */
    FULL("full"),
    /** More bytes or names than the limits allow. */
    TOO_LARGE("too-large"),
    /** Events came faster than they were read, and `whenFull` is `FAIL`. */
    OVERFLOW("overflow"),
    /** Native memory could not be had. */
    OUT_OF_MEMORY("out-of-memory"),
    /** The memory was used after its release. */
    RELEASED("released"),
    /**
     * The caller gave up, without a reason of its own; or a handler did not end within the time that closing gave it.
     */
    CANCELLED("cancelled"),
    /** The plugin is closed, or closed before it answered. */
    CLOSED("closed"),
    /** The memory cannot be lent without a copy, and a copy was not allowed. */
    WOULD_COPY("would-copy"),
}

/** The exception of this library, also of its futures and streams. Compare [code], never the message. */
public class PluginException
@JvmOverloads
public constructor(public val code: PluginErrorCode, message: String, cause: Throwable? = null) :
    RuntimeException(message, cause)

/** In the form `name must be …: name=value`. */
internal fun invalid(name: String, must: String, value: Any?): PluginException =
    PluginException(PluginErrorCode.INVALID_ARGUMENT, "$name must be $must: $name=$value")
