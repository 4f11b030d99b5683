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
    val trips = ArrayList<Trip>()
    var dueMs = MeterClock.nowMs()
    while (trips.size < options.count) {
        while (MeterClock.nowMs() < dueMs && !Thread.currentThread().isInterrupted) {
            LockSupport.parkNanos(((dueMs - MeterClock.nowMs()) * 1e6).toLong())
        }
        if (Thread.currentThread().isInterrupted) break
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

/** Options of [Meter.ping]. Set them before use, on one thread at a time. */
public class PingOptions {
    internal var count = 20
    internal var intervalMs = 0.0

    /** Sets the number of pings, which are sent one after another. Default: 20. */
    public fun count(count: Int): PingOptions = apply {
        require(count >= 1) { "count must be 1 or more: count=$count" }
        this.count = count
    }

    /**
     * Sets the time between the starts of two pings, in ms. Default: 0, so each ping starts when the one before has
     * ended. If a ping takes longer than this time, the next one starts late.
     */
    public fun intervalMs(intervalMs: Double): PingOptions = apply {
        require(intervalMs >= 0 && intervalMs.isFinite()) { "intervalMs must be 0 or more: intervalMs=$intervalMs" }
        this.intervalMs = intervalMs
    }
}

/**
 * One round trip. [atMs] counts from the start of the first ping. [remoteTimeMs] is a reading of the peer's clock, or
 * null if the peer did not send one. All times are in ms.
 */
public class PingSample
internal constructor(public val atMs: Double, public val roundTripMs: Double, public val remoteTimeMs: Double?)

/** Statistics of all round trips, in ms. A quantile is null if fewer than 20 samples lie beyond it. */
public class RoundTrips
internal constructor(
    public val n: Int,
    public val min: Double,
    public val mean: Double,
    public val max: Double,
    public val p50: Double?,
    public val p90: Double?,
    public val p99: Double?,
)

/** Mean one-way times, in ms. Each is exact to plus or minus [errorMs]. */
public class OneWay
internal constructor(
    /** The peer's clock minus our clock. */
    public val clockOffsetMs: Double,
    /** Error bound. 0 if both sides read the same clock. */
    public val errorMs: Double,
    public val thereMsMean: Double,
    public val backMsMean: Double,
)

/** The report of a series of round trips. Immutable. [toJson] writes the format of TypeScript's `ping()`. */
public class PingReport
internal constructor(
    public val samples: List<PingSample>,
    public val roundTripMs: RoundTrips,
    /** The one-way times. Null if the peer does not send its clock. */
    public val oneWay: OneWay?,
) {
    /** Returns the report as one JSON object, without line breaks. Allocates on each call. */
    public fun toJson(): String =
        json(
            mapOf(
                "kind" to "clearway-ping",
                "version" to 1,
                "samples" to
                    samples.map {
                        mapOf(
                            "atMs" to it.atMs,
                            "roundTripMs" to it.roundTripMs,
                            "remoteTimeMs" to (it.remoteTimeMs ?: ABSENT),
                        )
                    },
                "roundTripMs" to
                    with(roundTripMs) {
                        mapOf(
                            "n" to n,
                            "min" to min,
                            "mean" to mean,
                            "max" to max,
                            "p50" to p50,
                            "p90" to p90,
                            "p99" to p99,
                        )
                    },
                "oneWay" to
                    (oneWay?.let {
                        mapOf(
                            "clockOffsetMs" to it.clockOffsetMs,
                            "errorMs" to it.errorMs,
                            "thereMsMean" to it.thereMsMean,
                            "backMsMean" to it.backMsMean,
                        )
                    } ?: ABSENT),
            )
        )

    /** Returns the figures as text of one or two lines. */
    override fun toString(): String {
        val all = roundTripMs
        if (all.n == 0) return "no ping came back"
        val quantiles = listOf("p50" to all.p50, "p90" to all.p90, "p99" to all.p99)
        val shown = quantiles.mapNotNull { (name, value) -> value?.let { ", $name ${inMs(it)}" } }.joinToString("")
        val trips = "round trip over ${all.n}: min ${inMs(all.min)}, mean ${inMs(all.mean)}, max ${inMs(all.max)}$shown"
        val way = oneWay ?: return trips
        return "$trips\none way: there ${inMs(way.thereMsMean)}, back ${inMs(way.backMsMean)}, " +
            "each within ${inMs(way.errorMs)}"
    }
}
