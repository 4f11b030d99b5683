// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.channel.wire

import clearway.channel.codec.NOTHING
import java.nio.ByteBuffer
import java.nio.ByteOrder

//  The layout of a frame (spec/channel.md). Numbers are unsigned and little-endian. Each part after the head begins at
//  a multiple of 8 bytes.
//
//    byte  0  +----+-------+------------+----------------+
//             | op | flags | name bytes | id             |
//          8  +----+-------+------------+----------------+
//             | a                       | b              |
//         16  +-------------------------+-------+--------+
//             | body bytes              | count | c      |   count: number of attachments
//         24  +-------------------------+-------+--------+
//             | the channel's name, UTF-8                |
//             +------------------------------------------+
//             | body: a message of the channel's codec   |
//             +------------------------------------------+
//             | count sizes of 4 bytes | attachments ... |   only with the flag `inside`
//             +------------------------------------------+

internal const val HEAD_BYTES = 24

/** The kinds of frames, as numbers on the wire. spec/channel.md defines `a`, `b` and `c` of each kind. */
internal object Op {
    const val HELLO = 0
    const val CALL = 1
    const val REPLY = 2
    const val CANCEL = 3
    const val POST = 4
    const val LISTEN = 5
    const val EVENT = 6
    const val END = 7
    const val CREDIT = 8
    const val STOP = 9
    /** A message on the plain wire. A message with the id 0 wants no reply. */
    const val MESSAGE = 16
    /**
     * A reply on the plain wire. A reply without a body means that the method is not implemented or the channel has no
     * handler.
     */
    const val ANSWER = 17
}

internal object Flag {
    /** The frame contains the bytes of its attachments. */
    const val INSIDE = 1
    /** The message is the bytes of the frame's only attachment, as the binary codec encodes it. */
    const val WHOLE = 2
    /** The frame has no message, not even null. */
    const val EMPTY = 4

    /** The position of the policy for a full queue in the flags of a `listen`. */
    const val WHEN_FULL_SHIFT = 4
}

/** The ways in which a call or a stream can end, as numbers on the wire. */
internal object Status {
    const val DONE = 0
    const val ERROR = 1
    const val NOT_IMPLEMENTED = 2
    const val NO_HANDLER = 3
    const val DROPPED = 4
    const val CANCELLED = 5
    const val TIMEOUT = 6
    const val BUSY = 7
}

/**
 * The numbers in the head of a frame to send. [Op] names the kinds of frames; spec/channel.md defines `a`, `b` and `c`.
 */
internal class Head(val op: Int, val flags: Int = 0, val id: Int = 0, val a: Long = 0, val b: Long = 0, val c: Int = 0)

/** A frame that was received. The name, the body and the attachments are views of the received bytes. */
internal class Frame(
    val op: Int,
    val flags: Int,
    val id: Int,
    val a: Long,
    val b: Long,
    val c: Int,
    val name: ByteBuffer,
    val body: ByteBuffer,
    val attachments: List<ByteBuffer>,
    /** The bytes of all attachments. */
    val attachedBytes: Long,
)

private fun padded(bytes: Int): Int = (bytes + 7) and -8

/**
 * Returns a frame in new memory of its exact size. Copies the name and the body. Throws ArithmeticException if the
 * frame would be larger than an array can be.
 */
internal fun writeFrame(head: Head, name: ByteArray = NOTHING, body: ByteArray = NOTHING): ByteArray {
    val bodyAt = HEAD_BYTES + padded(name.size)
    val frame = ByteArray(Math.addExact(bodyAt, body.size))
    val bytes = ByteBuffer.wrap(frame).order(ByteOrder.LITTLE_ENDIAN)
    bytes.putInt(0, head.op or (head.flags shl 8) or (name.size shl 16))
    bytes.putInt(4, head.id)
    bytes.putInt(8, head.a.toInt())
    bytes.putInt(12, head.b.toInt())
    bytes.putInt(16, body.size)
    bytes.putInt(20, head.c shl 16)
    System.arraycopy(name, 0, frame, HEAD_BYTES, name.size)
    System.arraycopy(body, 0, frame, bodyAt, body.size)
    return frame
}

/** Parses a frame without copying. Returns null if the bytes are not a valid frame. */
internal fun readFrame(bytes: ByteArray): Frame? {
    if (bytes.size < HEAD_BYTES) return null
    val head = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN)
    val first = head.getInt(0)
    val flags = first ushr 8 and 0xff
    val nameBytes = first ushr 16
    val bodyBytes = unsigned(head.getInt(16))
    val last = head.getInt(20)
    val count = last and 0xffff
    val bodyAt = HEAD_BYTES + padded(nameBytes)
    if (bodyAt + bodyBytes > bytes.size) return null
    val bodyEnd = bodyAt + bodyBytes.toInt()
    val inside = flags and Flag.INSIDE != 0
    if (!inside && (count != 0 || bodyEnd != bytes.size)) return null
    val attached = if (inside) readInside(bytes, head, padded(bodyEnd), count) ?: return null else null
    return Frame(
        first and 0xff,
        flags,
        head.getInt(4),
        unsigned(head.getInt(8)),
        unsigned(head.getInt(12)),
        last ushr 16,
        part(bytes, HEAD_BYTES, nameBytes),
        part(bytes, bodyAt, bodyBytes.toInt()),
        attached ?: emptyList(),
        attached?.bytesInAll ?: 0L,
    )
}

private fun unsigned(value: Int): Long = value.toLong() and 0xffff_ffffL

private fun part(bytes: ByteArray, from: Int, size: Int): ByteBuffer =
    ByteBuffer.wrap(bytes, from, size).slice().order(ByteOrder.LITTLE_ENDIAN)

private fun readInside(bytes: ByteArray, head: ByteBuffer, tableAt: Int, count: Int): Inside? {
    var at = tableAt.toLong() + padded(count * 4)
    if (count == 0 || at > bytes.size) return null
    val begins = IntArray(count)
    val sizes = IntArray(count)
    for (index in 0 until count) {
        val size = unsigned(head.getInt(tableAt + index * 4))
        if (size > bytes.size - at) return null
        begins[index] = at.toInt()
        sizes[index] = size.toInt()
        at += (size + 7) and -8L
    }
    return if (at == bytes.size.toLong()) Inside(bytes, begins, sizes) else null
}

/**
 * The attachments inside a frame. Makes a view when it is asked for: a frame of 260 KB may have 65,535 empty
 * attachments.
 */
private class Inside(private val bytes: ByteArray, private val begins: IntArray, private val sizes: IntArray) :
    AbstractList<ByteBuffer>(), RandomAccess {
    override val size: Int
        get() = begins.size

    val bytesInAll: Long
        get() = sizes.fold(0L) { sum, each -> sum + each }

    override fun get(index: Int): ByteBuffer = part(bytes, begins[index], sizes[index])
}

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
