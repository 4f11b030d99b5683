// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.meter

import clearway.meter.host.MeterClock
import clearway.meter.model.ClockOffset
import clearway.meter.model.TimedTrip
import clearway.meter.model.bestOffset
import clearway.meter.model.quantile
import java.util.concurrent.CompletableFuture
import java.util.concurrent.CompletionStage
import java.util.concurrent.Executor
import java.util.concurrent.locks.LockSupport

/**
 * A peer that answers pings. The stage of an answer completes with one reading of the peer's own clock, in ms. It
 * completes with null if the peer sends no reading.
 */
public fun interface PingTarget {
    public fun ping(): CompletionStage<Double?>
}

/**
 * A round trip. `sentMs` and `backMs` are on our clock. `remoteMs` is on the peer's clock, or NaN if the peer did not
 * send it.
 */
internal class Trip(val sentMs: Double, val backMs: Double, val remoteMs: Double)

/**
 * Sends pings one after another, and waits for each answer. An interrupt ends the series. The caller's interrupt status
 * stays set.
 */
internal fun pinged(target: PingTarget, options: PingOptions, sameClock: Boolean): PingReport {
    val trips = ArrayList<Trip>(options.count)
    var dueMs = MeterClock.nowMs()
    while (trips.size < options.count) {
        while (MeterClock.nowMs() < dueMs && !Thread.currentThread().isInterrupted) {
            LockSupport.parkNanos(((dueMs - MeterClock.nowMs()) * 1e6).toLong())
        }
        val sentMs = MeterClock.nowMs()
        dueMs = sentMs + options.intervalMs
        val remoteMs =
            try {
                target.ping().toCompletableFuture().get()
            } catch (_: InterruptedException) {
                Thread.currentThread().interrupt()
                break
            }
        trips += Trip(sentMs, MeterClock.nowMs(), remoteMs ?: Double.NaN)
    }
    return pingReport(trips, sameClock)
}

/** Returns a target that answers with the meter's own clock, read on the thread of `executor`. */
internal fun answering(executor: Executor): PingTarget = PingTarget {
    val answer = CompletableFuture<Double?>()
    executor.execute { answer.complete(MeterClock.nowMs()) }
    answer
}

/** Computes the report of a series. Reads no clock. */
internal fun pingReport(trips: List<Trip>, sameClock: Boolean): PingReport {
    val firstMs = trips.firstOrNull()?.sentMs ?: 0.0
    val sorted = trips.map { it.backMs - it.sentMs }.sorted().toDoubleArray()
    val timed = trips.filter { !it.remoteMs.isNaN() }.map { TimedTrip(it.sentMs, it.remoteMs, it.backMs) }
    val offset = if (sameClock && timed.isNotEmpty()) ClockOffset(0.0, 0.0) else bestOffset(timed)
    return PingReport(
        trips.map { PingSample(it.sentMs - firstMs, it.backMs - it.sentMs, it.remoteMs.takeUnless(Double::isNaN)) },
        RoundTrips(
            sorted.size,
            min = sorted.firstOrNull() ?: 0.0,
            mean = if (sorted.isEmpty()) 0.0 else sorted.sum() / sorted.size,
            max = sorted.lastOrNull() ?: 0.0,
            p50 = quantile(sorted, 0.5),
            p90 = quantile(sorted, 0.9),
            p99 = quantile(sorted, 0.99),
        ),
        offset?.let { clock ->
            OneWay(
                clock.offsetMs,
                clock.errorMs,
                thereMsMean = timed.sumOf { it.remoteMs - clock.offsetMs - it.sentMs } / timed.size,
                backMsMean = timed.sumOf { it.backMs + clock.offsetMs - it.remoteMs } / timed.size,
            )
        },
    )
}
