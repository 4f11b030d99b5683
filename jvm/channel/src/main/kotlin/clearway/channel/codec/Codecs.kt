// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.channel.codec

import clearway.channel.codec.json.JsonMessageCodec
import clearway.channel.codec.json.JsonMethodCodec

/** The codecs of spec/wire.md, with their default limits. */
public object Codecs {
    /** Compact, and keeps types; Flutter, Android and iOS have it. */
    @JvmField
    public val STANDARD: StandardMessageCodec = StandardMessageCodec(CodecLimits(), Extensions.NONE, emptyNull = true)

    @JvmField public val STANDARD_METHODS: StandardMethodCodec = StandardMethodCodec(STANDARD)

    /** For ends that have nothing but JSON. */
    @JvmField public val JSON: JsonMessageCodec = JsonMessageCodec(CodecLimits())

    @JvmField public val JSON_METHODS: JsonMethodCodec = JsonMethodCodec(CodecLimits())

    /** Texts. */
    @JvmField public val STRING: StringCodec = StringCodec()

    /** Bytes. */
    @JvmField public val BINARY: BinaryCodec = BinaryCodec()
}
