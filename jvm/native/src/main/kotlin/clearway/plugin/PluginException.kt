// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.plugin

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
