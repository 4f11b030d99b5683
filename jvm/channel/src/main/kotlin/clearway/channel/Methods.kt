// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.channel

import clearway.channel.codec.MethodCall
import clearway.channel.codec.MethodCodec
import clearway.channel.codec.MethodReply
import clearway.channel.endpoint.Core
import clearway.channel.endpoint.Handler
import clearway.channel.endpoint.Served
import clearway.channel.endpoint.noAnswer
import clearway.channel.endpoint.run
import clearway.channel.wire.Status
import java.util.concurrent.CompletableFuture
import java.util.concurrent.CompletionStage
import kotlin.reflect.KType
import kotlin.reflect.typeOf

/**
 * Implements a method. Receives the call's arguments and returns the result, or a CompletionStage of the result. A
 * method may block. It may throw a [RemoteException] to choose the error that the caller gets.
 */
public fun interface MethodHandler {
    @Throws(Exception::class) public fun call(args: Any?, context: HandlerContext): Any?
}

/** The methods of a channel, by name. [Methods.handle] copies the table, so add all methods before. */
public class MethodTable {
    internal val methods = HashMap<String, MethodHandler>()

    /** Adds a method. Throws IllegalArgumentException if the table has a method with this name. */
    public fun on(method: String, handler: MethodHandler): MethodTable = apply {
        require(method !in methods) { "method must be added once: method=$method" }
        methods[method] = handler
    }
}

/** A channel of methods. Both ends may call and handle methods. */
public class Methods
internal constructor(private val core: Core, public val name: String, private val codec: MethodCodec) {
    private val connection = core.connection

    init {
        connection.checkName(name)
    }

    /**
     * Calls a method with one value as its arguments. The arguments are encoded before this function returns. Throws
     * the codec's exceptions for the arguments. The future fails as the future of [Messages.send] does, or with
     * `not-implemented`. An error that the other end's method threw is a [RemoteException]. Cancelling the future
     * cancels the call at the other end.
     *
     * The result is checked, with the elements of its lists and maps. A number is converted to a number of type `R` if
     * that loses nothing; only a fraction that becomes a `Float` may be rounded. A result of another type fails the
     * future with [UnexpectedValueException]. `Unit` ignores the result.
     */
    @JvmSynthetic
    @JvmName("callChecked")
    public inline fun <reified R> call(
        method: String,
        args: Any? = null,
        options: CallOptions = CallOptions(),
    ): CompletableFuture<R> = callAs(typeOf<R>(), method, args, options)

    /**
     * Calls a method as [call] does, for Java. A number is converted to `type` if that loses nothing. A result of
     * another type fails the future with [UnexpectedValueException]. The result may be null. The elements of lists and
     * maps are not checked.
     */
    @JvmOverloads
    public fun <R> call(
        type: Class<R>,
        method: String,
        args: Any? = null,
        options: CallOptions = CallOptions(),
    ): CompletableFuture<R> = callAs(ExpectedType.of(type), method, args, options)

    /** Calls a method as [call] does. The type `R` is not checked, and numbers are not converted. */
    @JvmOverloads
    @JvmName("call")
    public fun <R> callUnchecked(
        method: String,
        args: Any? = null,
        options: CallOptions = CallOptions(),
    ): CompletableFuture<R> = callAs(null, method, args, options)

    @PublishedApi
    internal fun <R> callAs(type: KType, method: String, args: Any?, options: CallOptions): CompletableFuture<R> =
        callAs(ExpectedType.of(type), method, args, options)

    @Suppress("UNCHECKED_CAST") // `type` has checked the value, or the caller asked for an unchecked one.
    private fun <R> callAs(
        type: ExpectedType?,
        method: String,
        args: Any?,
        options: CallOptions,
    ): CompletableFuture<R> =
        core.call(name, options, { connection.encodeCall(codec, MethodCall(method, args)) }) { answer ->
            val value = valueOf(connection.decodeReply(codec, answer), name)
            (if (type == null) value else type.convert(value, name, method)) as R
        }

    /**
     * Handles the other end's calls, early calls first. Calls run concurrently, as far as the executor permits. The
     * reply to a method that is not in the table is `not-implemented`. Closing the result removes the handler. Throws
     * IllegalArgumentException if the channel has a handler.
     */
    public fun handle(table: MethodTable): AutoCloseable {
        val methods = HashMap(table.methods)
        return core.router.handle(
            name,
            object : Handler {
                override fun request(served: Served) {
                    connection.lock.defer {
                        served.started { connection.settings.executor.execute { serve(served, methods) } }
                    }
                }
            },
        )
    }

    private fun serve(served: Served, methods: Map<String, MethodHandler>) {
        run(
            served,
            {
                val call = connection.decodeCall(codec, served.message)
                val handler = methods[call.method]
                val given = if (handler == null) NOT_IMPLEMENTED else handler.call(call.args, served)
                @Suppress("UNCHECKED_CAST") // The stage may complete with any value.
                if (given is CompletionStage<*>) given as CompletionStage<Any?>
                else CompletableFuture.completedFuture(given)
            },
            { value ->
                if (value === NOT_IMPLEMENTED) served.answer(Status.NOT_IMPLEMENTED)
                else served.answer { connection.encodeReply(codec, MethodReply.Success(value)) }
            },
            { thrown -> served.fail(thrown) { connection.envelope(codec, it, connection.settings.stacks) } },
        )
    }

    private companion object {
        val NOT_IMPLEMENTED = Any()
    }
}

/** Returns the value of a reply, or throws the reply's error. */
internal fun valueOf(reply: MethodReply, channel: String): Any? =
    when (reply) {
        is MethodReply.Success -> reply.value
        is MethodReply.None -> throw noAnswer(channel)
        is MethodReply.Failure -> {
            val cause = reply.stack?.let { RemoteCause(reply.code, reply.message.orEmpty(), it, null) }
            throw RemoteException(reply.code, reply.message.orEmpty(), reply.details, channel, cause)
        }
    }
