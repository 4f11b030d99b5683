// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.channel.websocket

import clearway.channel.transport.CloseCode
import clearway.channel.transport.CloseReason

/**
 * How a client notices a server that has gone silent, for example because its machine has lost power. The client sends
 * a ping each [pingMs]. If nothing at all arrives for [pingMs] and [pongMs] together, the transport closes with `lost`.
 * The client measures that time in steps of a quarter of [pingMs], so a pause of the process counts as one step.
 *
 * @property pingMs interval of the pings, in milliseconds. The default is 20,000. With 0, the client sends no pings and
 *   waits for ever.
 * @property pongMs how much longer than [pingMs] the server may be silent, in milliseconds. The default is 10,000.
 * @throws IllegalArgumentException if a time is negative
 */
public class WebSocketPings
@JvmOverloads
public constructor(public val pingMs: Long = 20_000, public val pongMs: Long = 10_000) {
    init {
        require(pingMs >= 0) { "pingMs must be 0 or more: pingMs=$pingMs" }
        require(pongMs >= 0) { "pongMs must be 0 or more: pongMs=$pongMs" }
    }
}

/** Sends a client's pings, and ends its transport when the server has gone silent. */
internal class KeepAlive(
    private val transport: SocketTransport,
    private val pings: WebSocketPings,
    private val after: (ms: Long, act: () -> Unit) -> Unit,
) {
    /** Whether anything has arrived since the last step. */
    @Volatile private var heard = true
    private val stepMs = maxOf(pings.pingMs / STEPS, 1)
    private var silentMs = 0L
    private var sincePingMs = 0L

    /** Records that a message, a part of one, a ping or a pong has arrived. Any thread may call this function. */
    fun heard() {
        heard = true
    }

    /** Starts the pings. `ping` sends one. */
    fun start(ping: () -> Unit) {
        if (pings.pingMs > 0) after(stepMs) { step(ping) }
    }

    private fun step(ping: () -> Unit) {
        if (transport.isOver) return
        // While the socket is not read, nothing can arrive.
        silentMs = if (heard || !transport.isRead) 0 else silentMs + stepMs
        heard = false
        if (silentMs >= pings.pingMs + pings.pongMs)
            return transport.abort(CloseReason(CloseCode.LOST, "the other end has sent nothing for $silentMs ms"))
        sincePingMs += stepMs
        if (sincePingMs >= pings.pingMs) {
            sincePingMs = 0
            guarded(ping)
        }
        after(stepMs) { step(ping) }
    }

    private companion object {
        /** The number of steps in [WebSocketPings.pingMs]. A dead connection is noticed at most one step late. */
        const val STEPS = 4
    }
}
