// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.channel

import clearway.channel.codec.json.EXACT_MAX
import java.math.BigInteger
import kotlin.math.abs
import kotlin.reflect.KClass
import kotlin.reflect.KType

/**
 * The type that a caller expects of a received value. Checks the value and the elements of its lists, sets and maps.
 * Converts a number to the expected type only if that loses nothing: numbers of a message have the narrowest type that
 * holds them, whichever type the other end had.
 */
internal class ExpectedType
private constructor(
    private val type: KClass<*>,
    private val arguments: List<ExpectedType?>,
    private val isNullable: Boolean,
) {
    private val boxed: Class<out Any> = type.javaObjectType

    /** Returns `value` in this type. Throws [UnexpectedValueException]; `method` is empty for an event. */
    fun convert(value: Any?, channel: String, method: String): Any? {
        val result = convert(value)
        if (result !is Misfit) return result
        val root = if (method.isEmpty()) "event" else "result"
        throw UnexpectedValueException(channel, method, root + result.path, result.expected.toString(), result.value)
    }

    private fun convert(value: Any?): Any? =
        when {
            boxed == Unit::class.java -> Unit
            value == null -> if (isNullable) null else Misfit(this, null)
            value is Number && Number::class.java.isAssignableFrom(boxed) -> number(value, boxed) ?: Misfit(this, value)
            !boxed.isInstance(value) -> Misfit(this, value)
            value is Collection<*> -> arguments.singleOrNull()?.let { elements(value, it) } ?: value
            value is Map<*, *> && arguments.size == 2 -> entries(value)
            else -> value
        }

    private fun elements(values: Collection<*>, of: ExpectedType): Any {
        var changed = false
        val converted: MutableCollection<Any?> = if (values is Set<*>) LinkedHashSet() else ArrayList(values.size)
        for ((at, value) in values.withIndex()) {
            val element = of.convert(value)
            if (element is Misfit) return element.inside("[$at]")
            if (element !== value) changed = true
            converted.add(element)
        }
        if (!changed) return values
        return if (boxed.isInstance(converted) && converted.size == values.size) converted else Misfit(this, values)
    }

    private fun entries(values: Map<*, *>): Any {
        var changed = false
        val converted = LinkedHashMap<Any?, Any?>()
        for ((key, value) in values) {
            val name = arguments[0].of(key)
            if (name is Misfit) return name.inside(".keys")
            val entry = arguments[1].of(value)
            if (entry is Misfit) return entry.inside("[${shown(key)}]")
            if (name !== key || entry !== value) changed = true
            converted[name] = entry
        }
        if (!changed) return values
        return if (boxed.isInstance(converted) && converted.size == values.size) converted else Misfit(this, values)
    }

    private fun ExpectedType?.of(value: Any?): Any? = if (this == null) value else convert(value)

    override fun toString(): String {
        val inside = if (arguments.isEmpty()) "" else arguments.joinToString(", ", "<", ">") { it?.toString() ?: "*" }
        return "${type.simpleName}$inside${if (isNullable) "?" else ""}"
    }

    /** A value that does not have the expected type. `path` leads from the received value to it. */
    private class Misfit(val expected: ExpectedType, val value: Any?, val path: String = "") {
        fun inside(step: String) = Misfit(expected, value, step + path)
    }

    companion object {
        /** Returns null for a type that every value has. */
        fun of(type: KType): ExpectedType? {
            val classifier = type.classifier as? KClass<*> ?: return null
            if (classifier == Any::class && type.isMarkedNullable) return null
            val arguments = type.arguments.map { argument -> argument.type?.let(::of) }
            return ExpectedType(classifier, arguments, type.isMarkedNullable)
        }

        /** Returns the expectation of Java's callers: null is a value of each class. */
        fun of(type: Class<*>): ExpectedType = ExpectedType(type.kotlin, emptyList(), isNullable = true)
    }
}

/** Returns `value` as a `wanted`, or null if it does not fit. Only a fraction that becomes a Float may be rounded. */
private fun number(value: Number, wanted: Class<*>): Number? =
    when {
        wanted.isInstance(value) -> value
        wanted == Double::class.javaObjectType && value is Float -> value.toDouble()
        wanted == Float::class.javaObjectType && value is Double -> float(value)
        else -> whole(value)?.let { integer(it, wanted) }
    }

private fun float(value: Double): Float? {
    val float = value.toFloat()
    if (whole(value) != null) return float.takeIf { it.toDouble() == value }
    return float.takeIf { it.isFinite() == value.isFinite() && (it == 0f) == (value == 0.0) }
}

private fun integer(whole: BigInteger, wanted: Class<*>): Number? =
    when (wanted) {
        Byte::class.javaObjectType -> if (whole.bitLength() < Byte.SIZE_BITS) whole.toByte() else null
        Short::class.javaObjectType -> if (whole.bitLength() < Short.SIZE_BITS) whole.toShort() else null
        Int::class.javaObjectType -> if (whole.bitLength() < Int.SIZE_BITS) whole.toInt() else null
        Long::class.javaObjectType -> if (whole.bitLength() < Long.SIZE_BITS) whole.toLong() else null
        BigInteger::class.java -> whole
        Double::class.javaObjectType -> whole.toDouble().takeIf { whole(it) == whole }
        Float::class.javaObjectType -> whole.toFloat().takeIf { whole(it) == whole }
        else -> null
    }

/**
 * Returns the integer that `value` is, or null if it is none. A float beyond 2^53 is none: the other end, or a codec of
 * JSON, may have rounded an integer to it.
 */
private fun whole(value: Number): BigInteger? =
    when (value) {
        is Byte,
        is Short,
        is Int,
        is Long -> BigInteger.valueOf(value.toLong())
        is BigInteger -> value
        is Float,
        is Double -> {
            val float = value.toDouble()
            if (abs(float) <= EXACT_MAX && float == Math.rint(float)) BigInteger.valueOf(float.toLong()) else null
        }
        else -> null
    }

private const val SHOWN_MAX = 64

/** Returns a short text for a value of the other end. Calls no code of an extension. */
internal fun shown(value: Any?): String =
    when (value) {
        null,
        is Boolean,
        is Int,
        is Long,
        is Double -> value.toString()
        is BigInteger -> if (value.bitLength() <= SHOWN_MAX * 3) value.toString() else "${value.bitLength()} bits"
        is String -> if (value.length <= SHOWN_MAX) "\"$value\"" else "\"${value.take(SHOWN_MAX)}…\""
        else -> value.javaClass.simpleName
    }
