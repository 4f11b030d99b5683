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
 * Sends and receives messages over two byte streams. Each message follows its size, as in common hand-written framing.
 * Buffers the streams, as `Process` recommends. One thread at a time may read, and one may write. Blocks. Throws the
 * streams' exceptions.
 */
internal class SizedMessages(input: InputStream, output: OutputStream) : AutoCloseable {
    private val input = DataInputStream(BufferedInputStream(input, BUFFER_BYTES))
    private val output = DataOutputStream(BufferedOutputStream(output, BUFFER_BYTES))

    /** Writes a message and flushes it. */
    fun write(message: ByteArray) {
        output.writeInt(message.size)
        output.write(message)
        output.flush()
    }

    /** Reads the next message into new memory. Returns null if the input has ended. */
    fun read(): ByteArray? {
        val size =
            try {
                input.readInt()
            } catch (ended: EOFException) {
                return null
            }
        return ByteArray(size).also(input::readFully)
    }

    /** Closes the output. The input can still be read. */
    override fun close() = output.close()

    private companion object {
        /** Size of each buffer: the size of a pipe on Linux, as in Clearway's transport. */
        const val BUFFER_BYTES = 1 shl 16
    }
}
