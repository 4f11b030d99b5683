// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.channel.codec

/**
 * Maximum number of hex digits in a big integer, for reading and writing. The limit bounds the work that a message can
 * cause (spec/wire.md).
 */
internal const val BIG_DIGITS_MAX = 1 shl 20

/**
 * Limits above which a codec refuses a message, before it allocates memory for the message.
 *
 * @property depthMax maximum nesting of lists, maps and extension values, for reading and writing: 0 to 1000; default
 *     128. The reader uses stack for each level of nesting.
 *
 * @property itemsMax maximum number of values that the lists and maps of one message may announce together. A map entry
 *   counts as two. Default 16,777,216.
 * @throws IllegalArgumentException if a limit is out of its range
 */
public class CodecLimits
@JvmOverloads
public constructor(public val depthMax: Int = 128, public val itemsMax: Int = 1 shl 24) {
    init {
        require(depthMax in 0..1000) { "depthMax must be from 0 to 1000: depthMax=$depthMax" }
        require(itemsMax >= 0) { "itemsMax must be 0 or more: itemsMax=$itemsMax" }
    }
}
