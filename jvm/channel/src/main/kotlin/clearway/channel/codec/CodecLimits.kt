// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.channel.codec

/** Hex digits of a big integer, reading and writing: what a message may make a reader work on. spec/wire.md. */
internal const val BIG_DIGITS_MAX = 1 shl 20

/**
 * Limits above which a codec refuses a message, before it allocates memory for it.
 *
 * @property depthMax lists, maps and extension values inside one another, reading and writing: 0 to 1000; default 128.
 *   Reading goes as deep into the stack as the message goes.
 * @property itemsMax values that the lists and maps of one message may announce together, a map two an entry; default
 *   16,777,216.
 * @throws IllegalArgumentException where one is out of its range
 */
public class CodecLimits
@JvmOverloads
public constructor(public val depthMax: Int = 128, public val itemsMax: Int = 1 shl 24) {
    init {
        require(depthMax in 0..1000) { "depthMax must be from 0 to 1000: depthMax=$depthMax" }
        require(itemsMax >= 0) { "itemsMax must be 0 or more: itemsMax=$itemsMax" }
    }
}
