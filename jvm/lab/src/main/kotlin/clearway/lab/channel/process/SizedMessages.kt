// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.lab.channel.process

import java.io.BufferedInputStream
import java.io.BufferedOutputStream
import java.io.DataInputStream
import java.io.DataOutputStream
import java.io.EOFException
import java.io.InputStream
import java.io.OutputStream

/**
 * Messages over two streams of bytes, each with its size in front, as one writes it by hand. The streams are buffered,
 * as `Process` advises. One thread at a time reads, and one writes. Blocks; throws what the streams throw.
 */
internal class SizedMessages(input: InputStream, output: OutputStream) : AutoCloseable {
    private val input = DataInputStream(BufferedInputStream(input, BUFFER_BYTES))
    private val output = DataOutputStream(BufferedOutputStream(output, BUFFER_BYTES))

    /** Leaves at once. */
    fun write(message: ByteArray) {
        output.writeInt(message.size)
        output.write(message)
        output.flush()
    }

    /** The next one, in new memory; null where the other end has ended. */
    fun read(): ByteArray? {
        val size =
            try {
                input.readInt()
            } catch (ended: EOFException) {
                return null
            }
        return ByteArray(size).also(input::readFully)
    }

    /** Ends what is written; what can still be read is left. */
    override fun close() = output.close()

    private companion object {
        /** As Clearway's transport has it: the size of a pipe on Linux. */
        const val BUFFER_BYTES = 1 shl 16
    }
}
