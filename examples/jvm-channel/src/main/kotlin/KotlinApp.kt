// SPDX-License-Identifier: MIT OR Apache-2.0
import clearway.channel.Endpoint
import clearway.channel.coroutines.asFlow
import clearway.channel.coroutines.awaitCall
import clearway.channel.coroutines.awaitConnect
import clearway.channel.transport.StreamTransport
import kotlinx.coroutines.flow.first
import kotlinx.coroutines.flow.onEach

suspend fun main() {
    val java = ProcessHandle.current().info().command().orElse("java")
    val child =
        ProcessBuilder(java, "-cp", System.getProperty("java.class.path"), "Sensor")
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .start()
    Endpoint.awaitConnect(StreamTransport.ofChild(child)).use { sensor ->
        println("level: ${sensor.methods("lab/thermometer").awaitCall<Double>("level")}")
        sensor
            .events("lab/thermometer/changed")
            .asFlow<Double>()
            .onEach { println("changed: $it") }
            .first { it > 30 } // ends the stream in the other process, too
    }
}
