// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.channel.codec

import clearway.channel.codec.json.JsonMessageCodec
import clearway.channel.codec.json.JsonMethodCodec

/** The codecs of spec/wire.md, with their default limits. */
public object Codecs {
    /** Flutter's standard codec. It is compact and preserves types. Flutter, Android and iOS support it. */
    @JvmField
    public val STANDARD: StandardMessageCodec = StandardMessageCodec(CodecLimits(), Extensions.NONE, emptyNull = true)

    @JvmField public val STANDARD_METHODS: StandardMethodCodec = StandardMethodCodec(STANDARD)

    /** The JSON codec, for peers that support only JSON. */
    @JvmField public val JSON: JsonMessageCodec = JsonMessageCodec(CodecLimits())

    @JvmField public val JSON_METHODS: JsonMethodCodec = JsonMethodCodec(CodecLimits())

    /** The codec for messages that are text, in UTF-8. */
    @JvmField public val STRING: StringCodec = StringCodec()

    /** The codec for messages that are bytes. */
    @JvmField public val BINARY: BinaryCodec = BinaryCodec()
}
