// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.channel.wire

import java.nio.ByteBuffer
import java.nio.ByteOrder

// The hello is the first frame in each direction. Its body consists of numbers of 4 bytes, so an end needs no codec to
// read it. Later versions may add numbers at the end.
//
//   0  the size of the largest frame that this end accepts, in bytes
//   4  the size of the longest channel name that this end accepts, in bytes
//   8  the maximum number of calls that this end runs at the same time

/** The ASCII bytes of "CWCH" as a little-endian integer. */
internal const val HELLO_MAGIC = 0x48435743
internal const val WIRE_VERSION = 1L

/** The smallest frame limit that an end may announce, in bytes. Control frames and short errors must fit in a frame. */
internal const val FRAME_BYTES_MIN = 1024L

/** The wires that an end supports, as bits. */
internal object Wires {
    const val CLEARWAY = 1
    const val PLAIN = 2
}

/** The limits and abilities that an end announces about itself. */
internal class Hello(
    val version: Long,
    val wires: Int,
    val frameBytesMax: Long,
    val nameBytesMax: Long,
    val callsMax: Long,
)

private const val BODY_BYTES = 12

internal fun writeHello(hello: Hello): ByteArray {
    val body = ByteBuffer.allocate(BODY_BYTES).order(ByteOrder.LITTLE_ENDIAN)
    body.putInt(hello.frameBytesMax.toInt()).putInt(hello.nameBytesMax.toInt()).putInt(hello.callsMax.toInt())
    return writeFrame(
        Head(Op.HELLO, id = HELLO_MAGIC, a = hello.version, b = hello.wires.toLong()),
        body = body.array(),
    )
}

/** Parses a hello. Returns null if the frame is not a hello. */
internal fun readHello(frame: Frame): Hello? {
    val body = frame.body
    if (frame.op != Op.HELLO || frame.id != HELLO_MAGIC || body.remaining() < BODY_BYTES) return null
    fun at(index: Int) = body.getInt(index).toLong() and 0xffff_ffffL
    return Hello(frame.a, frame.b.toInt(), at(0), at(4), at(8))
}

/** Returns the wire to use: Clearway's if both ends support it, else the plain wire. Returns 0 if they share none. */
internal fun agree(here: Int, there: Int): Int {
    val both = here and there
    return if (both and Wires.CLEARWAY != 0) Wires.CLEARWAY else both and Wires.PLAIN
}
