// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.lab.channel.process

import clearway.channel.transport.StreamTransport
import clearway.lab.channel.Caller
import clearway.lab.channel.Row
import java.io.FileDescriptor
import java.io.FileInputStream
import java.io.FileOutputStream

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
