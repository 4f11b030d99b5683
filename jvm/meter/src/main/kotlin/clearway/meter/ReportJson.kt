// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.meter

/**
 * Returns the report in the format of `spec/stalls.schema.json`. The top-level keys have the same order as in
 * TypeScript's meter.
 */
internal fun jsonOf(report: StallReport): String =
    json(
        mapOf(
            "kind" to "clearway-stalls",
            "version" to 1,
            "host" to report.host,
            "label" to (report.label ?: ABSENT),
            "startedAt" to report.startedAt,
            "durationMs" to report.durationMs,
            "floorMs" to report.floorMs,
            "stalls" to report.stalls.map(::mapOf),
            "droppedStalls" to report.droppedStalls,
            "longestMs" to report.longestMs,
            "ownLongestMs" to report.ownLongestMs,
            "lagMeanMs" to report.lagMeanMs,
            "lagMaxMs" to report.lagMaxMs,
            "stalledMs" to report.stalledMs,
            "stallsPerMinute" to report.stallsPerMinute,
            "waits" to report.waits.map { mapOf("overMs" to it.overMs, "share" to it.share) },
            "hitch" to
                mapOf(
                    "hz" to report.hitch.hz,
                    "msPerSecond" to report.hitch.msPerSecond,
                    "verdicts" to
                        mapOf("strict" to report.hitch.verdicts.strict, "lenient" to report.hitch.verdicts.lenient),
                ),
            "frames" to
                mapOf(
                    "hz" to report.frames.hz,
                    "expected" to report.frames.expected,
                    "dropped" to report.frames.dropped,
                    "estimated" to report.frames.estimated,
                ),
            "worstSecond" to
                mapOf("startMs" to report.worstSecond.startMs, "stalledMs" to report.worstSecond.stalledMs),
            "tail" to report.tail.map { mapOf("quantile" to it.quantile, "lengthMs" to it.lengthMs) },
            "causes" to
                report.causes.map {
                    mapOf(
                        "cause" to it.cause.word,
                        "stalls" to it.stalls,
                        "totalMs" to it.totalMs,
                        "longestMs" to it.longestMs,
                    )
                },
            "sources" to
                report.sources.map {
                    mapOf("name" to it.name, "available" to it.available, "why" to (it.why ?: ABSENT))
                },
            "hiddenMs" to report.hiddenMs,
        )
    )

private fun mapOf(stall: Stall): Map<String, Any?> =
    mapOf(
        "startMs" to stall.startMs,
        "lengthMs" to stall.lengthMs,
        "errorMs" to stall.errorMs,
        "cause" to stall.cause.word,
        "because" to stall.because,
        "machineMs" to stall.machineMs,
        "gcMs" to stall.gcMs,
        // Always empty here: only browsers attribute stalls to scripts. The JVM has stacks instead.
        "scripts" to emptyList<Any>(),
        "stacks" to stall.stacks.map { mapOf("frames" to it.frames, "seen" to it.seen) },
        "marks" to stall.marks.map { mapOf("label" to it.label, "overlapMs" to it.overlapMs) },
    )
