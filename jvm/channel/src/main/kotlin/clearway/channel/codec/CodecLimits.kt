// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.channel.codec

/**
 * Maximum number of hex digits in a big integer, for encoding and decoding. The limit bounds the work that a message
 * can cause (spec/wire.md).
 */
internal const val BIG_DIGITS_MAX = 1 shl 20

/**
 * Limits on one message. A codec refuses a message above a limit before it allocates memory for the excess.
 *
 * @property depthMax maximum nesting of lists, maps and extension values, from 0 to 1000, for encoding and decoding.
 *   The default is 128. Each level of nesting uses stack.
 * @property itemsMax maximum number of values that all lists, maps and extension values of one message may have
 *   together, for decoding. A map entry counts as two values. The default is 16,777,216. An endpoint also has
 *   [valuesMax][clearway.channel.EndpointOptions.valuesMax]; the smaller limit holds.
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
