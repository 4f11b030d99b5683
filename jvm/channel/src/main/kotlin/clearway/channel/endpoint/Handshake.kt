// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.channel.endpoint

import clearway.channel.ChannelError
import clearway.channel.ChannelException
import clearway.channel.Endpoint
import clearway.channel.EndpointOptions
import clearway.channel.transport.ChannelSink
import clearway.channel.transport.ChannelTransport
import clearway.channel.transport.CloseCode
import clearway.channel.transport.CloseReason
import clearway.channel.transport.guarded
import clearway.channel.wire.FRAME_BYTES_MIN
import clearway.channel.wire.Hello
import clearway.channel.wire.WIRE_VERSION
import clearway.channel.wire.Wires
import clearway.channel.wire.agree
import clearway.channel.wire.readFrame
import clearway.channel.wire.readHello
import clearway.channel.wire.writeHello
import java.util.concurrent.CompletableFuture

/** Exchanges the hello on a transport, then passes its frames to the endpoint's core. */
internal class Handshake(private val transport: ChannelTransport, private val settings: EndpointOptions) : ChannelSink {
    val connected = CompletableFuture<Endpoint>()
    @Volatile private var core: Core? = null
    private var timer: Timer? = null

    fun begin() {
        // A future that the caller ends, for example by a cancel or `orTimeout`, has no reason.
        connected.whenComplete { _, thrown ->
            timer?.stop()
            val reason = (thrown as? ChannelException)?.reason ?: CloseReason(CloseCode.CLOSED, "gave up")
            val isClosed = (thrown as? ChannelException)?.error == ChannelError.TRANSPORT_CLOSED
            if (core == null && !isClosed) guarded { transport.close(reason) }
        }
        try {
            sendHello()
        } catch (thrown: Throwable) {
            timer?.stop() // The caller does not get the future.
            throw thrown
        }
    }

    private fun sendHello() {
        if (!settings.hello) {
            agreed(Wires.PLAIN, null)
            return transport.open(this)
        }
        if (settings.helloMs > 0)
            timer =
                settings.clock.after(settings.helloMs) {
                    val message = "the other end has not said hello within ${settings.helloMs} ms"
                    fail(ChannelError.DEADLINE, CloseReason(CloseCode.TIMEOUT, message))
                }
        transport.open(this)
        try {
            val names = settings.nameBytesMax.toLong()
            val frames = transport.frameBytesMax.toLong()
            val hello = Hello(WIRE_VERSION, settings.wire.bits, frames, names, settings.callsMax.toLong())
            transport.send(writeHello(hello))
        } catch (thrown: Throwable) {
            // The caller gets no endpoint that could close the transport. After `open` it belongs to this connection.
            val reason = CloseReason(CloseCode.FAILED, "the hello was not sent", emptyMap(), thrown)
            guarded { transport.close(reason) }
            throw thrown
        }
    }

    override fun frame(frame: ByteArray) {
        core?.let {
            return survive(it) { it.frame(frame) }
        }
        if (connected.isDone) return
        val there = readFrame(frame)?.let(::readHello)
        if (there == null)
            return refuse(
                "the other end said no hello; for a foreign end that has none: EndpointOptions.withoutHello()"
            )
        if (there.version != WIRE_VERSION)
            return refuse("the other end speaks version ${there.version} of the wire, and this one $WIRE_VERSION")
        val wire = agree(settings.wire.bits, there.wires)
        if (wire == 0) return refuse("no wire in common with the other end")
        if (there.frameBytesMax < FRAME_BYTES_MIN)
            return refuse(
                "the other end takes frames of ${there.frameBytesMax} bytes; at least $FRAME_BYTES_MIN are needed"
            )
        agreed(wire, there)
    }

    override fun drained() {
        core?.let { survive(it) { it.drained() } }
    }

    // Closes the connection if `act` throws. A sink must not throw, because its thread reads for the whole transport.
    private inline fun survive(core: Core, act: () -> Unit) {
        try {
            act()
        } catch (thrown: Throwable) {
            guarded { core.connection.failed(thrown) }
        }
    }

    override fun closed(reason: CloseReason) {
        core?.let {
            return guarded { it.ended(reason) }
        }
        connected.completeExceptionally(
            ChannelException(ChannelError.TRANSPORT_CLOSED, "before the hello: ${reason.message}", reason)
        )
    }

    private fun agreed(wire: Int, there: Hello?) {
        val core = Core(transport, settings, wire, there)
        this.core = core
        // The caller may have given up meanwhile.
        if (!connected.complete(Endpoint(core))) core.terminate(CloseReason(CloseCode.CLOSED, "gave up"))
    }

    private fun refuse(message: String): Unit = fail(ChannelError.PROTOCOL, CloseReason(CloseCode.PROTOCOL, message))

    private fun fail(error: ChannelError, reason: CloseReason) {
        connected.completeExceptionally(ChannelException(error, reason.message, reason)) // Also closes the transport.
    }
}
