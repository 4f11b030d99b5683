// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.meter.metrics

import clearway.meter.Stall
import io.opentelemetry.api.common.AttributeKey
import io.opentelemetry.api.common.Attributes
import io.opentelemetry.api.metrics.DoubleCounter
import io.opentelemetry.api.metrics.DoubleHistogram
import io.opentelemetry.api.metrics.Meter
import java.util.WeakHashMap
import java.util.concurrent.atomic.AtomicLong
import java.util.function.Consumer

/**
 * A scope that gives its stalls to OpenTelemetry, at once and on the calling thread. The app needs the package
 * `io.opentelemetry:opentelemetry-api`, which is an optional dependency of the meter.
 *
 * An instrument that throws does not stop the watch, nor the other instruments: [failures] counts it.
 */
public class OpenTelemetryStalls
private constructor(
    meter: Meter,
    private val attributes: Attributes,
    options: MetricsOptions,
    private val onError: Consumer<in Throwable>?,
) : StallScope {
    private val stalls: DoubleHistogram =
        meter
            .histogramBuilder(Instruments.STALL.name)
            .setUnit(Instruments.STALL.unit)
            .setDescription(Instruments.STALL.description)
            .setExplicitBucketBoundariesAdvice(Instruments.BOUNDS_S)
            .build()
    private val gc = counter(meter, Instruments.GC)
    private val machine = counter(meter, Instruments.MACHINE)
    private val hitch = counter(meter, Instruments.HITCH)
    private val frames = counter(meter, Instruments.FRAMES)
    private val marks = counter(meter, Instruments.MARK)
    private val amounts = AmountCounter(options.copy())
    private val failed = AtomicLong()
    private val isInside = ThreadLocal.withInitial { false }
    // Claimed last, so that a meter that throws claims nothing.
    private val claim = Claims.claim(meter, attributes)
    @Volatile private var isOpen = true

    /** The number of errors of instruments. The values of a failed call are lost. */
    public val failures: Long
        get() = failed.get()

    override fun accept(stall: Stall) {
        // An instrument that calls back with a stall would never end.
        if (!isOpen || isInside.get()) return
        isInside.set(true)
        try {
            val added = amounts.of(stall)
            guarded { stalls.record(added.lengthS, with(CAUSE, stall.cause.word)) }
            add(gc, added.gcS)
            add(machine, added.machineS)
            add(hitch, added.hitchS)
            add(frames, added.frames)
            for ((label, timeS) in added.marks) guarded { marks.add(timeS, with(MARK, label)) }
        } finally {
            isInside.remove()
        }
    }

    override fun close() {
        isOpen = false
        claim.close()
    }

    private fun add(counter: DoubleCounter, value: Double) {
        if (value > 0) guarded { counter.add(value, attributes) }
    }

    private fun with(key: AttributeKey<String>, value: String) = attributes.toBuilder().put(key, value).build()

    private fun guarded(call: () -> Unit) {
        try {
            call()
        } catch (failure: Throwable) {
            failed.incrementAndGet()
            try {
                onError?.accept(failure)
            } catch (_: Throwable) {
                // `failures` has counted the first error. Nothing is left that could receive the second one.
            }
        }
    }

    public companion object {
        private val CAUSE = AttributeKey.stringKey("clearway.stall.cause")
        private val MARK = AttributeKey.stringKey("clearway.mark.label")

        /**
         * Creates the instruments and returns a scope that records with them. `attributes` belong to every measurement.
         * `onError` receives each error of an instrument; what it throws itself is dropped.
         *
         * @throws IllegalArgumentException if an open scope of this meter has the same attributes, because two scopes
         *   would count every stall twice
         */
        @JvmStatic
        @JvmOverloads
        public fun record(
            meter: Meter,
            attributes: Attributes = Attributes.empty(),
            options: MetricsOptions = MetricsOptions(),
            onError: Consumer<in Throwable>? = null,
        ): OpenTelemetryStalls = OpenTelemetryStalls(meter, attributes, options, onError)

        private fun counter(meter: Meter, instrument: Instrument): DoubleCounter =
            meter
                .counterBuilder(instrument.name)
                .ofDoubles()
                .setUnit(instrument.unit)
                .setDescription(instrument.description)
                .build()
    }

    /** The attributes of the open scopes of each meter. */
    private object Claims {
        private val taken = WeakHashMap<Meter, MutableSet<Attributes>>()

        fun claim(meter: Meter, attributes: Attributes): AutoCloseable {
            val own = synchronized(taken) { taken.getOrPut(meter) { HashSet() } }
            val isNew = synchronized(own) { own.add(attributes) }
            require(isNew) {
                "attributes must differ from those of every open scope of this meter: attributes=$attributes"
            }
            var isClaimed = true
            return AutoCloseable {
                synchronized(own) {
                    if (isClaimed) own -= attributes
                    isClaimed = false
                }
            }
        }
    }
}
