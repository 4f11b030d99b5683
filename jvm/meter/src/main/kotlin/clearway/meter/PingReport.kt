// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.meter

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
