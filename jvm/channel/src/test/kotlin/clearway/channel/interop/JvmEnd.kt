// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.channel.interop

import clearway.channel.Endpoint
import clearway.channel.MethodTable
import clearway.channel.RemoteException
import clearway.channel.Reply
import clearway.channel.codec.Codecs
import clearway.channel.transport.StreamTransport

/** Serves the channels that the other end's tests call. Closing the returned handles stops serving them. */
fun jvmEnd(endpoint: Endpoint): List<AutoCloseable> =
    listOf(
        endpoint
            .methods("jvm")
            .handle(
                MethodTable()
                    .on("twice") { args, _ -> 2 * (args as Int) }
                    .on("large") { args, _ -> ByteArray(args as Int) }
                    .on("refuse") { _, _ -> throw RemoteException("NO", "not today", 7) }
            ),
        endpoint.messages("jvm/bytes", Codecs.BINARY).handle { bytes, _ -> Reply.of(bytes) },
        endpoint.events("jvm/numbers").serveEach({ args -> generateSequence(args as Int) { it + 1 }.asIterable() }),
    )

/** A program that runs a JVM endpoint as the child of another process. */
object Child {
    @JvmStatic
    fun main(args: Array<String>) {
        val endpoint = Endpoint.connect(StreamTransport.ofParent()).get()
        println("this goes to the standard error, and stands between no frames")
        jvmEnd(endpoint)
        endpoint.closed.get()
    }

    /** The command that starts the program. */
    val command: List<String> =
        listOf(
            "${System.getProperty("java.home")}/bin/java",
            "-XX:TieredStopAtLevel=1",
            "-cp",
            System.getProperty("java.class.path"),
            "clearway.channel.interop.Child",
        )
}
