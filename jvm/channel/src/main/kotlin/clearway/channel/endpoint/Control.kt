// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.channel.endpoint

import clearway.channel.EndpointOptions
import clearway.channel.codec.Codecs
import clearway.channel.codec.MethodCall
import clearway.channel.codec.MethodReply
import clearway.channel.wire.Status

/**
 * The name of the control channel. On it, the other end sets how many messages without a handler this end keeps
 * (spec/wire.md).
 */
internal const val CONTROL_CHANNEL = "dev.flutter/channel-buffers"

private val codec = Codecs.STANDARD_METHODS

/**
 * Serves the control channel. `resize [name, count]` sets how many early messages of a channel are kept. `overflow
 * [name, allowed]` sets whether a dropped message causes a warning. This end never warns, so it only checks the
 * arguments of `overflow`.
 */
internal class Control(private val connection: Connection, private val resize: (name: String, count: Int) -> Unit) :
    Handler {
    override fun request(served: Served) {
        try {
            val call = connection.decodeCall(codec, served.message)
            val (name, value) = arguments(call)
            when (call.method) {
                "resize" -> resize(name, count(value))
                "overflow" -> require(value is Boolean) { "overflow takes [name, true or false]" }
                else -> return served.answer(Status.NOT_IMPLEMENTED)
            }
            served.answer(Status.DONE, codec.encodeReply(MethodReply.Success(null)))
        } catch (thrown: Throwable) {
            connection.lock.defer { served.fail(thrown) { connection.envelope(codec, it, false) } }
        } finally {
            served.ended()
        }
    }

    private fun arguments(call: MethodCall): Pair<String, Any?> {
        val args = call.args as? List<*>
        val name = args?.firstOrNull() as? String
        require(args?.size == 2 && name != null) { "the arguments are [name, value]" }
        return Pair(name, args[1])
    }

    private fun count(value: Any?): Int {
        require(value is Int && value >= 0) { "a size must be a whole number of 0 or more: size=$value" }
        return minOf(value, EndpointOptions.EARLY_MAX)
    }
}

internal fun resizeMessage(channel: String, count: Int): ByteArray =
    codec.encodeCall(MethodCall("resize", listOf(channel, count)))
