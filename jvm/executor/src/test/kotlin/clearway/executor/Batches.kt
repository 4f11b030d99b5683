// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.executor

import io.kotest.property.Arb
import io.kotest.property.arbitrary.bind
import io.kotest.property.arbitrary.boolean
import io.kotest.property.arbitrary.enum
import io.kotest.property.arbitrary.int
import java.util.concurrent.locks.LockSupport

/** The work of an item. */
enum class Kind(private val body: () -> Unit) {
    TRIVIAL({}),
    SHORT({ spin(2_000) }),
    LONG({ spin(100_000) }),
    ASLEEP({ LockSupport.parkNanos(50_000) });

    fun run(): Unit = body()
}

data class Asked(val size: Int, val kind: Kind, val known: Boolean)

val batches: Arb<Asked> = Arb.bind(Arb.int(0, 300), Arb.enum<Kind>(), Arb.boolean(), ::Asked)

/** Spins for about `steps` ns. */
fun spin(steps: Int) {
    var state = steps
    repeat(steps) { state = state * 1_664_525 + 1_013_904_223 }
    if (state == 42) println()
}
