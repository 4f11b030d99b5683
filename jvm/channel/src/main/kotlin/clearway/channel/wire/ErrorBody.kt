// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.channel.wire

import clearway.channel.ChannelException
import clearway.channel.RemoteCause
import clearway.channel.RemoteException
import clearway.channel.codec.CodecError
import clearway.channel.codec.CodecException
import clearway.channel.codec.CodecLimits
import clearway.channel.codec.Codecs
import clearway.channel.codec.OverLimit
import clearway.channel.codec.encode
import clearway.channel.codec.wellFormed
import clearway.channel.shown
import java.io.PrintWriter
import java.io.StringWriter
import java.nio.ByteBuffer

// The codec for the body of a failed reply on Clearway's wire. The body is a list, [code, message, details, error].
// `error` describes the exception with class name, stack, own properties and causes; it may be null.

private val codec = Codecs.STANDARD.withEmptyNull(false).with(CodecLimits(depthMax = 256, itemsMax = 1 shl 20))

/** Maximum length of a chain of causes. The limit also ends a circular chain. */
private const val CAUSES_MAX = 16
private const val STACK_MAX = 20_000
private const val CODE_MAX = 30
private const val AROUND_MAX = 200

/** The parts of an error that are sent: code, message, details and stack. */
internal class ErrorParts(val code: String, val message: String, val details: Any?, val stack: String) {
    /**
     * Returns a copy that takes at most `bytesMax` bytes when encoded. Cuts the code and the message, and leaves out
     * the details and the stack.
     */
    fun shortened(bytesMax: Int): ErrorParts {
        val code = cut(code, CODE_MAX)
        // A `Char` takes at most 3 bytes in UTF-8, but 6 if JSON escapes it as a control character.
        return ErrorParts(code, cut(message, (bytesMax - AROUND_MAX) / 6 - code.length), null, "")
    }
}

/**
 * Returns the code, message, details and stack of an exception. Unless `whole`, leaves out the details of an error that
 * another end threw. Never throws, although the exception's own methods may throw.
 */
internal fun partsOf(thrown: Throwable, whole: Boolean): ErrorParts {
    val code =
        when (thrown) {
            is RemoteException -> thrown.code
            is ChannelException -> thrown.code
            is CodecException -> thrown.code
            else -> "error"
        }
    // An error with a channel name came from another end, and so did its details.
    val details = (thrown as? RemoteException)?.takeIf { whole || it.channel.isEmpty() }?.details
    return ErrorParts(wellFormed(code), messageOf(thrown) ?: thrown.javaClass.simpleName, details, stackOf(thrown))
}

/**
 * Encodes an exception in at most `bytesMax` bytes. `bytesMax` must be 500 or more. Unless `whole`, writes only the
 * code, the message, and the details that the handler chose. Never throws. Details that the codec cannot encode are
 * replaced by a text that names their class. If the result is too large, only the code and the beginning of the message
 * remain.
 */
internal fun writeError(thrown: Throwable, bytesMax: Int, whole: Boolean): ByteArray {
    val parts = partsOf(thrown, whole)
    try {
        val described = if (whole) describe(thrown, 0) else null
        return codec.encode(listOf(parts.code, parts.message, plain(parts.details, bytesMax), described), bytesMax)
    } catch (_: Throwable) {
        // The error is too large. Or the details, whose encoding runs application code, could not be encoded again.
    }
    val short = parts.shortened(bytesMax)
    return codec.encode(listOf(short.code, short.message, null, null))
}

private fun cut(text: String, charactersMax: Int): String =
    if (text.length <= charactersMax) text else wellFormed(text.take(charactersMax - 1)) + "…"

/** Returns details that can be encoded, or a text in their place. Throws [OverLimit] if they are too large. */
private fun plain(value: Any?, bytesMax: Int): Any? =
    try {
        codec.encode(value, bytesMax)
        value
    } catch (over: OverLimit) {
        throw over
    } catch (_: Throwable) {
        "[not encodable: ${value?.javaClass?.name}]"
    }

/**
 * Decodes the error in a body that the other end sent. Throws [CodecException] if the body is not an error's list, or
 * has more than `valuesMax` values.
 */
internal fun readError(body: ByteBuffer, channel: String, valuesMax: Int): RemoteException {
    val parts =
        codec.decode(body, true, null, valuesMax) as? List<*>
            ?: throw CodecException(CodecError.MALFORMED, "an error's body is no list", 0)
    fun text(index: Int) = parts.getOrNull(index) as? String ?: ""
    return RemoteException(text(0), text(1), parts.getOrNull(2), channel, readCause(parts.getOrNull(3), 0))
}

private fun describe(thrown: Throwable, depth: Int): Map<String, Any?> {
    val described =
        linkedMapOf<String, Any?>(
            "base" to "Error",
            "name" to wellFormed(thrown.javaClass.name),
            "message" to messageOf(thrown).orEmpty(),
            "stack" to stackOf(thrown),
            "props" to emptyList<Any?>(),
        )
    val cause = foreign { thrown.cause }
    if (cause != null && depth < CAUSES_MAX) described["cause"] = describe(cause, depth + 1)
    return described
}

private fun readCause(given: Any?, depth: Int): RemoteCause? {
    val parts = given as? Map<*, *> ?: return null
    fun text(key: String) = parts[key] as? String ?: ""
    if (!parts.containsKey("base")) {
        val value = parts["value"]
        // The reader holds the endpoint's lock. To write the digits of a large number could take minutes.
        return RemoteCause("value", value as? String ?: shown(value), "", null)
    }
    val cause = if (depth < CAUSES_MAX) readCause(parts["cause"], depth + 1) else null
    return RemoteCause(text("name"), text("message"), text("stack"), cause)
}

private fun stackOf(thrown: Throwable): String {
    val written = StringWriter()
    foreign { PrintWriter(written).use(thrown::printStackTrace) }
    return wellFormed(written.toString().take(STACK_MAX).trimEnd())
}

private fun messageOf(thrown: Throwable): String? = foreign { thrown.message }?.let(::wellFormed)

/** Calls a method of an exception. Returns null if the method throws, because the error must be sent in any case. */
private inline fun <T> foreign(ask: () -> T): T? =
    try {
        ask()
    } catch (_: Throwable) {
        null
    }
