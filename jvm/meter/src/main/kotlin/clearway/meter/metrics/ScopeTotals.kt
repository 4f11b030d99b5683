// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.meter.metrics

import clearway.meter.StallCause

/** The counted stalls of one scope. Its methods are called while its own lock is held. */
internal class ScopeTotals(val labels: String) {
    class OfCause {
        var count = 0L
        var sumS = 0.0
        val buckets = LongArray(Instruments.BOUNDS_S.size)
    }

    val causes = LinkedHashMap<StallCause, OfCause>()
    val marks = LinkedHashMap<String, Double>()
    val counters: MutableMap<Instrument, Double> =
        linkedMapOf(
            Instruments.GC to 0.0,
            Instruments.MACHINE to 0.0,
            Instruments.HITCH to 0.0,
            Instruments.FRAMES to 0.0,
        )

    fun add(cause: StallCause, amounts: Amounts) {
        val own = causes.getOrPut(cause) { OfCause() }
        own.count++
        own.sumS += amounts.lengthS
        val bucket = Instruments.BOUNDS_S.indexOfFirst { amounts.lengthS <= it }
        if (bucket >= 0) own.buckets[bucket]++
        counters.merge(Instruments.GC, amounts.gcS, Double::plus)
        counters.merge(Instruments.MACHINE, amounts.machineS, Double::plus)
        counters.merge(Instruments.HITCH, amounts.hitchS, Double::plus)
        counters.merge(Instruments.FRAMES, amounts.frames, Double::plus)
        for ((label, timeS) in amounts.marks) marks.merge(label, timeS, Double::plus)
    }
}
