// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.lab.channel.process

import clearway.channel.transport.StreamTransport
import clearway.lab.channel.Caller
import clearway.lab.channel.Row
import java.io.FileDescriptor
import java.io.FileInputStream
import java.io.FileOutputStream
import java.io.IOException
import java.io.InputStream
import java.io.OutputStream
import java.lang.management.ManagementFactory
import java.util.concurrent.TimeUnit
import java.util.concurrent.atomic.AtomicLong

/**
 * A child JVM that echoes every message. It is a normal process that also counts the bytes of its pipes. The
 * constructor starts the child. It throws an IOException with the command if the start fails. The caller ends the child
 * in a way that suits the mechanism, at the latest by closing the child's standard input, and then calls `close`.
 */
internal class EchoChild(command: List<String>, errors: ProcessBuilder.Redirect = ProcessBuilder.Redirect.INHERIT) :
    Process(), AutoCloseable {
    private val process = ProcessBuilder(command).redirectError(errors).start()
    private val toChild = CountedOutput(process.outputStream)
    private val fromChild = CountedInput(process.inputStream)

    /** Number of bytes that were written to the child's standard input or read from its standard output. */
    val pipedBytes: Long
        get() = toChild.bytes.get() + fromChild.bytes.get()

    /** Returns the error for a child that no longer answers. Waits up to a second for the child's end. */
    fun ended(why: IOException?): IllegalStateException {
        val code = if (waitFor(1, TimeUnit.SECONDS)) "${exitValue()}" else "none yet"
        return IllegalStateException("the child at the other end ended before it was told to: code=$code", why)
    }

    /** Waits for the child's end, which the caller has requested. Kills the child after 5 seconds. */
    override fun close() {
        if (!process.waitFor(GRACE_S, TimeUnit.SECONDS)) process.destroyForcibly().waitFor()
    }

    override fun getOutputStream(): OutputStream = toChild

    override fun getInputStream(): InputStream = fromChild

    override fun getErrorStream(): InputStream = process.errorStream

    override fun waitFor(): Int = process.waitFor()

    override fun waitFor(timeout: Long, unit: TimeUnit): Boolean = process.waitFor(timeout, unit)

    override fun exitValue(): Int = process.exitValue()

    override fun isAlive(): Boolean = process.isAlive

    override fun destroy() = process.destroy()

    companion object {
        private const val GRACE_S = 5L

        /** Starts a child for a mechanism and a row, with this JVM's Java, options and classes. */
        fun start(mechanism: String, row: Row): EchoChild = EchoChild(command(listOf(mechanism) + row.words))

        fun command(arguments: List<String>): List<String> =
            listOf("${System.getProperty("java.home")}/bin/java") +
                ManagementFactory.getRuntimeMXBean().inputArguments +
                listOf("-cp", System.getProperty("java.class.path"), "clearway.lab.channel.process.EchoChildKt") +
                arguments
    }
}

// Counts bytes before it writes them, so that a caller with the answer finds the whole request counted.
private class CountedOutput(private val to: OutputStream) : OutputStream() {
    val bytes = AtomicLong()

    override fun write(byte: Int) {
        bytes.incrementAndGet()
        to.write(byte)
    }

    override fun write(from: ByteArray, at: Int, count: Int) {
        bytes.addAndGet(count.toLong())
        to.write(from, at, count)
    }

    override fun flush() = to.flush()

    override fun close() = to.close()
}

private class CountedInput(private val from: InputStream) : InputStream() {
    val bytes = AtomicLong()

    override fun read(): Int = from.read().also { if (it >= 0) bytes.incrementAndGet() }

    override fun read(to: ByteArray, at: Int, count: Int): Int =
        from.read(to, at, count).also { if (it > 0) bytes.addAndGet(it.toLong()) }

    override fun available(): Int = from.available()

    override fun close() = from.close()
}

/**
 * The main program of [EchoChild]. Runs the peer of a mechanism for a row. Ends when the parent closes the standard
 * input.
 */
public fun main(arguments: Array<String>) {
    val (mechanism, row) = arguments.first() to arguments.drop(1)
    Processes.serve(mechanism, Row.of(row))
}

/** All mechanisms that call a child process, by name, with the code of both ends. */
internal object Processes {
    /**
     * @property open opens the mechanism to a child that was just started, and owns that child from then on
     * @property serve runs the child's end over its standard streams; returns when the parent has ended
     */
    private class ProcessMechanism(val open: (Row, EchoChild) -> Caller, val serve: (Row) -> Unit)

    private val mechanisms =
        mapOf(
            "bytes-stdio" to ProcessMechanism(::ByStreams) { row -> echoBytes(row, ownStreams()) },
            "clearway-stdio" to
                ProcessMechanism(::overStdio) { row -> echoing(row, StreamTransport.ofParent()).get().closed.get() },
            "clearway-websocket" to ProcessMechanism(::overSocket, ::echoSocket),
        )

    val names: Set<String>
        get() = mechanisms.keys

    /** Starts a child and opens the mechanism to it. Blocks. Ends the child if it throws. */
    fun open(name: String, row: Row, start: () -> EchoChild = { EchoChild.start(name, row) }): Caller {
        val mechanism = named(name)
        val child = start()
        try {
            return mechanism.open(row, child)
        } catch (failed: Throwable) {
            child.destroy()
            child.close()
            throw failed
        }
    }

    fun serve(name: String, row: Row): Unit = named(name).serve(row)

    private fun named(name: String): ProcessMechanism =
        requireNotNull(mechanisms[name]) { "no such mechanism on this host: $name (${names.joinToString()})" }

    private fun overStdio(row: Row, child: EchoChild): Caller =
        ByEndpoint(row, StreamTransport.ofChild(child), { child.pipedBytes }, child::close)

    /** Returns messages over this process's standard streams. Redirects `System.out` to the standard error. */
    private fun ownStreams(): SizedMessages {
        System.setOut(System.err)
        return SizedMessages(FileInputStream(FileDescriptor.`in`), FileOutputStream(FileDescriptor.out))
    }
}
