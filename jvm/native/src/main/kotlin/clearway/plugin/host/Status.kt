// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.plugin.host

import clearway.plugin.PluginErrorCode
import clearway.plugin.PluginException

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
