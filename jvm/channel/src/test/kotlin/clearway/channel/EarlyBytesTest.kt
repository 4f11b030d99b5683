// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.channel

import clearway.channel.wire.Frame
import clearway.channel.wire.Head
import clearway.channel.wire.Op
import clearway.channel.wire.Status
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Test

/** Checks that early messages are charged the memory of their attachments. */
class EarlyBytesTest {
    private fun bare() = Bare(EndpointOptions().earlyBytesMax(EARLY_BYTES_MAX).clock(FakeClock()))

    private fun idAndStatus(frame: Frame) = Pair(frame.id, frame.a.toInt())

    @Test
    fun `an early call drops an older one when the bytes of their attachments exceed earlyBytesMax`() =
        bare().use { bare ->
            for (id in 1..2) bare.there.send(frameWithAttachments(Head(Op.CALL, id = id), "late", listOf(6000)))
            bare.read()
            assertEquals(listOf(Pair(1, Status.DROPPED)), bare.frames(Op.REPLY, 1).map(::idAndStatus))
        }

    @Test
    fun `an early call is dropped when its many empty attachments take more than earlyBytesMax`() =
        bare().use { bare ->
            bare.there.send(frameWithAttachments(Head(Op.CALL, id = 1), "late", List(100) { 0 }))
            bare.read()
            assertEquals(listOf(Pair(1, Status.DROPPED)), bare.frames(Op.REPLY, 1).map(::idAndStatus))
        }

    @Test
    fun `an early listen is dropped when the bytes of its attachments exceed earlyBytesMax`() =
        bare().use { bare ->
            bare.there.send(frameWithAttachments(Head(Op.LISTEN, id = 1, a = 1, b = 1), "late", listOf(12_000)))
            bare.read()
            assertEquals(listOf(Pair(1, Status.DROPPED)), bare.frames(Op.END, 1).map(::idAndStatus))
        }

    private companion object {
        const val EARLY_BYTES_MAX = 10_000
    }
}
