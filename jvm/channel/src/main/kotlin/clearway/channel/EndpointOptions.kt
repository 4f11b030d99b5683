// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.channel

import clearway.channel.endpoint.Clock
import clearway.channel.endpoint.SystemClock
import clearway.channel.transport.SharedThreads
import clearway.channel.transport.guarded
import clearway.channel.wire.Wires
import java.util.concurrent.Executor

/** The wire that an end speaks. */
public enum class Wire(internal val bits: Int) {
    /** Clearway's own: cancelling, credit, deadlines, errors with stack and cause. */
    CLEARWAY(Wires.CLEARWAY),
    /** Flutter's platform messages and nothing else. */
    PLAIN(Wires.PLAIN),
    /** The first of both that the other end's hello names too. */
    EITHER(Wires.CLEARWAY or Wires.PLAIN),
}

/** How an endpoint is set up. Set before [Endpoint.connect], not for several threads at once. */
public class EndpointOptions {
    internal var wire = Wire.CLEARWAY
    internal var hello = true
    internal var helloMs = 30_000L
    internal var callsMax = 4096
    internal var replyBytesMax = 16 shl 20
    internal var stallMs = 30_000L
    internal var nameBytesMax = 255
    internal var early = 16
    internal var earlyBytesMax = 1 shl 20
    internal var earlyMs = 5_000L
    internal var stacks = false
    internal var exposeErrors: Boolean? = null
    internal var redactError: ((Throwable, String) -> Throwable?)? = null
    internal var executor: Executor = SharedThreads
    internal var onError: (Throwable, String) -> Unit = { thrown, channel ->
        System.err.println("clearway.channel, $channel:")
        thrown.printStackTrace()
    }
    internal var clock: Clock = SystemClock

    /** The wire to speak; default [Wire.CLEARWAY]. */
    public fun wire(wire: Wire): EndpointOptions = apply { this.wire = wire }

    /** For a foreign end that sends no hello and expects none: the plain wire, at once. */
    public fun withoutHello(): EndpointOptions = apply {
        wire = Wire.PLAIN
        hello = false
    }

    /** How long to wait for the other end's hello, ms; default 30,000. 0 waits for ever. */
    public fun helloMs(ms: Long): EndpointOptions = apply { helloMs = range("helloMs", ms, 0, Long.MAX_VALUE) }

    /**
     * Limit of the calls and of the streams that this end has open, and of those that it runs for the other end; each
     * of the four separately. Default 4096. A call from the other end occupies its place until its handler has ended
     * and its answer has left, even if it was cancelled.
     */
    public fun callsMax(count: Int): EndpointOptions = apply { callsMax = range("callsMax", count, 1, Int.MAX_VALUE) }

    /**
     * Bytes of answers that may wait for the other end to read; default 16 MiB. At this limit none of its requests
     * starts and, unless this end itself waits for an answer, the transport is paused, until half of the bytes have
     * left. The same number limits the bytes of pushed events that wait for it in all its streams together, whatever
     * capacity it asks for: at that limit every stream is full.
     */
    public fun replyBytesMax(bytes: Int): EndpointOptions = apply {
        replyBytesMax = range("replyBytesMax", bytes, 1, Int.MAX_VALUE)
    }

    /**
     * Time in ms after which an end at that limit that reads nothing is disconnected (`timeout`); default 30,000. 0
     * waits for ever.
     */
    public fun stallMs(ms: Long): EndpointOptions = apply { stallMs = range("stallMs", ms, 0, Long.MAX_VALUE) }

    /** Bytes of a channel's name; default 255, at most 65,535. */
    public fun nameBytesMax(bytes: Int): EndpointOptions = apply {
        nameBytesMax = range("nameBytesMax", bytes, 1, 0xffff)
    }

    /**
     * Messages kept of each channel that has no handler yet; the oldest is dropped for the next. Default 16. The other
     * end can change it, channel by channel, up to 1024.
     */
    public fun early(count: Int): EndpointOptions = apply { early = range("early", count, 0, EARLY_MAX) }

    /** All early messages together, in bytes; default 1 MiB. */
    public fun earlyBytesMax(bytes: Int): EndpointOptions = apply {
        earlyBytesMax = range("earlyBytesMax", bytes, 0, Int.MAX_VALUE)
    }

    /** How long they are kept, ms; then they are answered with `no-handler`. Default 5,000; 0 keeps none. */
    public fun earlyMs(ms: Long): EndpointOptions = apply { earlyMs = range("earlyMs", ms, 0, Int.MAX_VALUE.toLong()) }

    /** Write the stack of a handler's error as the fourth part of a plain envelope, which not every end reads. */
    public fun stacks(): EndpointOptions = apply { stacks = true }

    /**
     * Whether errors of handlers and sources cross whole, with class, stack and causes. Default: true for a child or
     * parent process and another part of this process. Over WebSockets and other streams, only the code and the message
     * cross, and the details of a [RemoteException] that this end created.
     */
    public fun exposeErrors(expose: Boolean): EndpointOptions = apply { exposeErrors = expose }

    /** Chooses the error that crosses. Runs before anything else is left out. */
    public fun redactError(redactor: ErrorRedactor): EndpointOptions = apply { redactError = redactor::redact }

    /**
     * Runs handlers and sources of events; default: daemon threads, as many as are needed at once. Handlers may block
     * there. An executor that runs its tasks within `execute` holds up the transport.
     */
    public fun executor(executor: Executor): EndpointOptions = apply { this.executor = executor }

    /**
     * Receives the errors of handlers that no caller waits for, with the channel. Default: prints them to `System.err`.
     * It must not block. Its own exceptions go to the thread's handler of uncaught errors.
     */
    public fun onError(told: ErrorListener): EndpointOptions = apply { onError = told::failed }

    /** Tells [onError]'s listener. Never throws. */
    internal fun report(thrown: Throwable, channel: String): Unit = guarded { onError(thrown, channel) }

    /** For tests. */
    internal fun clock(clock: Clock): EndpointOptions = apply { this.clock = clock }

    internal companion object {
        const val EARLY_MAX = 1024
    }
}

/**
 * Returns the error that crosses instead of the one that a handler or a source threw, for example a [RemoteException].
 * If it throws, the code `error` crosses with a message without details.
 */
public fun interface ErrorRedactor {
    public fun redact(error: Throwable, channel: String): Throwable
}

/** Receives errors that no caller waits for. */
public fun interface ErrorListener {
    public fun failed(error: Throwable, channel: String)
}

internal fun <T : Comparable<T>> range(name: String, value: T, min: T, max: T): T {
    require(value in min..max) { "$name must be from $min to $max: $name=$value" }
    return value
}

/** How a call is made. Not for several threads at once; may be used for many calls. */
public class CallOptions {
    internal var timeoutMs = 0L
    internal var deadlineMs = 0L

    /** How long the handler may run, ms from its start, by the other end's clock. */
    public fun timeoutMs(ms: Long): CallOptions = apply { timeoutMs = range("timeoutMs", ms, 1, Long.MAX_VALUE) }

    /** How long to wait for the answer in all, ms, by this end's clock. */
    public fun deadlineMs(ms: Long): CallOptions = apply { deadlineMs = range("deadlineMs", ms, 1, Long.MAX_VALUE) }

    internal companion object {
        val NONE = CallOptions()
    }
}
