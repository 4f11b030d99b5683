// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.lab.fork

import clearway.lab.protocol.Cell
import java.io.PrintStream
import java.util.concurrent.TimeUnit
import kotlinx.serialization.json.Json
import kotlinx.serialization.json.JsonObject
import kotlinx.serialization.json.JsonPrimitive
import kotlinx.serialization.json.buildJsonObject
import kotlinx.serialization.json.jsonObject

/** A JVM that measures. Owned by the runner, which speaks to it as the lab speaks to the runner; `close` ends it. */
internal class Fork : AutoCloseable {
    private val process: Process = ProcessBuilder(command()).redirectError(ProcessBuilder.Redirect.INHERIT).start()
    private val writer = PrintStream(process.outputStream, true, Charsets.UTF_8)
    private val reader = process.inputReader()

    /** Blocks until the fork has answered. Throws what it answered as an error, and where it ended. */
    fun ask(op: String, cell: Cell): JsonObject {
        val request = buildJsonObject {
            put("id", JsonPrimitive(1))
            put("op", JsonPrimitive(op))
            put("cell", cell.toJson())
        }
        writer.println(request)
        val line = reader.readLine() ?: throw ForkEnded("the measuring JVM ended: code=${process.waitFor()}")
        val answer = Json.parseToJsonElement(line).jsonObject
        if ((answer["ok"] as JsonPrimitive).content == "true") return answer.getValue("result").jsonObject
        error((answer.getValue("error").jsonObject.getValue("message") as JsonPrimitive).content)
    }

    override fun close() {
        writer.close()
        if (!process.waitFor(GRACE_S, TimeUnit.SECONDS)) process.destroyForcibly()
    }

    companion object {
        /** Threads that do not end by themselves must not hold the run. */
        private const val GRACE_S = 2L

        /** As users run a service: the JVM's own collector and compilers, and a heap that does not grow meanwhile. */
        val options: List<String> =
            listOf("-Xms1g", "-Xmx1g", "-Dkotlinx.coroutines.scheduler.keep.alive.sec=1") +
                // JCTools and others ask for what newer JDKs warn of; they would do so on stderr for every fork.
                (if (Runtime.version().feature() >= 23) listOf("--sun-misc-unsafe-memory-access=allow")
                else emptyList()) +
                (if (Runtime.version().feature() >= 22) listOf("--enable-native-access=ALL-UNNAMED") else emptyList())

        /** Where the native parts stand, as the runner was told. */
        private fun told(): List<String> =
            System.getProperties()
                .stringPropertyNames()
                .filter { it.startsWith("clearway.") }
                .sorted()
                .map { "-D$it=${System.getProperty(it)}" }

        private fun command(): List<String> {
            val java = "${System.getProperty("java.home")}/bin/java"
            return listOf(java) +
                options +
                told() +
                listOf("-cp", System.getProperty("java.class.path"), "clearway.lab.fork.InsideKt")
        }
    }
}

internal class ForkEnded(message: String) : IllegalStateException(message)
