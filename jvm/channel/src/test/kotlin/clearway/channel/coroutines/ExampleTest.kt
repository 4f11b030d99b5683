// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.channel.coroutines

import clearway.channel.Endpoint
import clearway.channel.MethodTable
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.coroutineScope
import kotlinx.coroutines.delay
import kotlinx.coroutines.flow.first
import kotlinx.coroutines.flow.flow
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Test

class ExampleTest {
    // #region kotlin-serve
    private fun serve(thermometer: Endpoint, scope: CoroutineScope) {
        thermometer
            .methods("lab/thermometer")
            .handle(
                MethodTable().onSuspending("level", scope) { _, _ ->
                    delay(1) // a cancelled call cancels this coroutine
                    mapOf("level" to 21.5)
                }
            )
        thermometer.events("lab/thermometer/changed").serveFlow(scope) {
            flow { for (step in 0..100) emit(mapOf("level" to 20.0 + step)) } // suspends while the listener is behind
        }
    }

    // #endregion kotlin-serve

    // #region kotlin-call
    private suspend fun read(sensor: Endpoint): Pair<Double, Double> = coroutineScope {
        val reading = sensor.methods("lab/thermometer").awaitCall<Map<String, Double>>("level")
        val hot =
            sensor.events("lab/thermometer/changed").asFlow<Map<String, Double>>().first {
                it.getValue("level") > 30
            } // then ends the stream at both ends
        Pair(reading.getValue("level"), hot.getValue("level"))
    }

    // #endregion kotlin-call

    @Test
    fun `the example reads a level and waits for a high one`() = connected { ends ->
        serve(ends.there, this)
        assertEquals(Pair(21.5, 31.0), read(ends.here))
    }
}
