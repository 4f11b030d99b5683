// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.meter.host

import java.lang.management.ManagementFactory

private val tieredStop = Regex("-XX:TieredStopAtLevel=([0-3])")

/**
 * Returns why code in a JVM with these options is slower than its users' code, or null if no option says so. Java has
 * no debug builds: an option of the JVM, which development tools set, turns the optimising compiler off.
 */
internal fun unoptimised(options: List<String>): String? =
    options
        .lastOrNull { it == "-Xint" || it == "-Djava.compiler=NONE" || tieredStop.matches(it) }
        ?.let { "the JVM runs with $it, without its optimising compiler" }

/** As above, for this JVM. Null, too, if the JVM does not tell its options. */
internal val unoptimised: String? by lazy {
    try {
        unoptimised(ManagementFactory.getRuntimeMXBean().inputArguments)
    } catch (_: SecurityException) {
        null
    } catch (_: LinkageError) { // a runtime without the module java.management
        null
    }
}
