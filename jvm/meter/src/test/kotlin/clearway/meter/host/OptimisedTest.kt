// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.meter.host

import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.DisplayName
import org.junit.jupiter.params.ParameterizedTest
import org.junit.jupiter.params.provider.CsvSource

class OptimisedTest {
    @ParameterizedTest
    @CsvSource(
        "-Xint, -Xint",
        "-Xmx64m -XX:TieredStopAtLevel=1, -XX:TieredStopAtLevel=1",
        "-Djava.compiler=NONE, -Djava.compiler=NONE",
        "-XX:TieredStopAtLevel=4,",
        "-Xmx64m -XX:+UseSerialGC,",
    )
    @DisplayName("A report names the option that turns the optimising compiler off, and no other")
    fun namesTheOption(options: String, named: String?) {
        val why = named?.let { "the JVM runs with $it, without its optimising compiler" }
        assertEquals(why, unoptimised(options.split(" ")))
    }
}
